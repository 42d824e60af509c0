//! Tests of the job folder.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use referee_core::model::{Check, CheckState, Checks, Sha};
use referee_core::plan::JobKind;
use serde_json::Value;

use super::{JobFolder, JobInputs, MAX_DIFF_BYTES, MAX_FOLDER_AGE, MIN_KEPT_FOLDERS, remove_old_folders};
use crate::worker::talk::tests::sample_talk;

fn create_folder(jobs: &Path, diff: &[u8], rules: &[(String, String)]) -> JobFolder {
    let checks = Checks {
        all: vec![
            Check { name: "build".to_owned(), state: CheckState::Pass },
            Check { name: "test".to_owned(), state: CheckState::Fail },
        ],
        own: Vec::new(),
    };
    let inputs = JobInputs {
        project: "my api/../x",
        kind: JobKind::Findings,
        repo: "acme/api",
        number: 7,
        epoch: 3,
        head: &Sha::from("1234"),
        base: &Sha::from("5678"),
        timeout: Duration::from_secs(60),
        prompt: "do it",
        diff,
        talk: &sample_talk(),
        checks: &checks,
        guidance: rules,
    };
    JobFolder::create(jobs, &inputs).expect("a folder")
}

fn read_json(folder: &JobFolder, name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.job_dir().join(name)).expect(name)).expect(name)
}

#[test]
fn the_inputs_are_written_and_only_the_owner_can_read_them() {
    let home = tempfile::tempdir().expect("a folder");
    let jobs = home.path().join("jobs");
    let rules = [("docs/style.md", "be kind"), ("../out.md", "no"), ("/etc/no", "no")];
    let rules = rules.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let folder = create_folder(&jobs, b"diff --git a/a b/a\n", &rules);
    assert_eq!(folder.job_dir().parent(), Some(jobs.join("my_api____x-7-3").as_path()));
    for private in [folder.job_dir(), folder.home_dir(), jobs.join("my_api____x-7-3")] {
        let mode = fs::metadata(&private).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", private.display());
    }
    let job = read_json(&folder, "job.json");
    assert_eq!((&job["schema"], &job["type"]), (&"referee/job-1".into(), &"findings".into()));
    assert_eq!((&job["pull"], &job["head"], &job["base"]), (&7.into(), &"1234".into(), &"5678".into()));
    assert_eq!(job["nonce"], folder.nonce());
    assert_eq!(job["limits"]["seconds"], 60);
    assert!(job.get("issue").is_none(), "{job}");
    assert_eq!(fs::read_to_string(folder.job_dir().join("prompt.md")).expect("a prompt"), "do it");
    assert_eq!(read_json(&folder, "threads.json")["findings"][0]["finding"], "F4");
    assert_eq!(read_json(&folder, "checks.json")["failed"], serde_json::json!(["test"]));
    assert_eq!(read_json(&folder, "result.schema.json")["additionalProperties"], false);
    let mut names: Vec<String> = fs::read_dir(folder.job_dir().join("rules"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["docs"]);
    assert!(!folder.job_dir().join("out.md").exists());
}

#[test]
fn no_two_jobs_share_a_folder_or_a_nonce() {
    let home = tempfile::tempdir().expect("a folder");
    let (one, other) = (create_folder(home.path(), b"", &[]), create_folder(home.path(), b"", &[]));
    assert_ne!(one.job_dir(), other.job_dir());
    assert_ne!(one.nonce(), other.nonce());
    assert_eq!(one.nonce().len(), 32);
}

#[test]
fn a_diff_that_is_too_large_is_truncated_at_a_line_end() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = create_folder(home.path(), "+0123456789\n".repeat(MAX_DIFF_BYTES / 10).as_bytes(), &[]);
    let diff = fs::read_to_string(folder.job_dir().join("diff.patch")).expect("a diff");
    assert!(diff.len() < MAX_DIFF_BYTES + 100);
    assert!(diff.ends_with("+0123456789\n# truncated here: git has the rest\n"));
}

#[test]
fn old_folders_are_removed_except_the_latest() {
    let home = tempfile::tempdir().expect("a folder");
    let make_old = |job: JobFolder, days: u32| {
        let modified_at = SystemTime::now() - MAX_FOLDER_AGE - Duration::from_secs(u64::from(days) * 86_400);
        let folder = job.job_dir().parent().expect("its folder").to_owned();
        drop(job);
        fs::File::open(&folder).expect("a folder").set_modified(modified_at).expect("a time");
        folder
    };
    let old: Vec<_> = (1..=25).map(|days| make_old(create_folder(home.path(), b"", &[]), days)).collect();
    let new = create_folder(home.path(), b"", &[]);
    remove_old_folders(home.path());
    assert!(new.job_dir().exists());
    let exists: Vec<bool> = old.iter().map(|folder| folder.exists()).collect();
    assert_eq!(exists.iter().filter(|exists| **exists).count(), MIN_KEPT_FOLDERS - 1);
    assert!(exists[..MIN_KEPT_FOLDERS - 1].iter().all(|exists| *exists), "the latest stay: {exists:?}");
}

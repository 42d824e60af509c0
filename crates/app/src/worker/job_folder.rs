//! The folder of a job. The worker has `job/` in it, and works in `work/`; what it prints is kept beside them.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use referee_core::model::{CheckState, Checks, Sha};
use referee_core::plan::JobKind;
use schemars::JsonSchema;
use serde::Serialize;

use super::result::{MAX_RESULT_BYTES, MAX_RESULT_ITEMS, ResultPayload};
use super::talk::Talk;
use crate::failure::Failure;
use crate::payload;

/// `job.json`: what a worker is to do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobDocument {
    pub(crate) schema: &'static str,
    pub(crate) r#type: JobKind,
    pub(crate) repo: String,
    /// The pull.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pull: Option<u64>,
    /// The issue, for `impl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) issue: Option<u64>,
    /// The commit to start from.
    pub(crate) head: Sha,
    /// The tip of the branch that the change goes to.
    pub(crate) base: Sha,
    /// What the result must repeat.
    pub(crate) nonce: String,
    /// Until when, in seconds since 1970: what runs then is ended.
    pub(crate) deadline: u64,
    pub(crate) limits: JobLimits,
}

/// How much a worker may do.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobLimits {
    /// How long it may take.
    pub(crate) seconds: u64,
    /// How large its result may be.
    pub(crate) result_bytes: u64,
    /// How many answers that may have.
    pub(crate) answers: usize,
}

/// What is laid out for a worker.
#[derive(Debug)]
pub(crate) struct JobInputs<'a> {
    /// The project's name.
    pub(crate) project: &'a str,
    /// Its type.
    pub(crate) kind: JobKind,
    /// `acme/api`.
    pub(crate) repo: &'a str,
    /// The pull's number, or the issue's.
    pub(crate) number: u64,
    /// Of which lease.
    pub(crate) epoch: u64,
    /// Where it starts.
    pub(crate) head: &'a Sha,
    /// Where the change goes.
    pub(crate) base: &'a Sha,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// What it is told.
    pub(crate) prompt: &'a str,
    /// The change.
    pub(crate) diff: &'a [u8],
    /// What was said.
    pub(crate) talk: &'a Talk,
    /// The checks at the head.
    pub(crate) checks: &'a Checks,
    /// The repository's own guidance, by path.
    pub(crate) guidance: &'a [(String, String)],
}

/// The folder of one job. The worker's home goes with the value; what it was told and what it said stays.
#[derive(Debug)]
pub(crate) struct JobFolder {
    path: PathBuf,
    nonce: String,
}

#[derive(Debug, Serialize)]
struct ChecksDocument<'a> {
    schema: &'static str,
    failed: Vec<&'a str>,
    pending: Vec<&'a str>,
}

/// A larger change is read from git.
const MAX_DIFF_BYTES: usize = 4 << 20;
/// How many folders stay, and for how long.
const MIN_KEPT_FOLDERS: usize = 20;
const MAX_FOLDER_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

impl JobFolder {
    /// Lays everything out in a new folder under `jobs`, that nobody else may look into.
    pub(crate) fn create(jobs: &Path, layout: &JobInputs<'_>) -> Result<Self, Failure> {
        let unusable = |error: io::Error| {
            Failure::failed(format!("no worker was started: `{}` cannot be used: {error}", jobs.display()))
                .with_hint("make room, or make the folder writable; `XDG_STATE_HOME` names another place")
        };
        let nonce = generate_nonce().map_err(unusable)?;
        let path = create_unique_dir(jobs, layout).map_err(unusable)?;
        let folder = Self { path, nonce };
        folder.write_inputs(layout).map_err(unusable)?;
        Ok(folder)
    }

    /// Where the worker finds its job, and leaves its result.
    pub(crate) fn job_dir(&self) -> PathBuf {
        self.path.join("job")
    }

    /// Where the work copy goes.
    pub(crate) fn work_dir(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The worker's home.
    pub(crate) fn home_dir(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Where its prints go.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    /// Where its result is, if it leaves one.
    pub(crate) fn result_path(&self) -> PathBuf {
        self.job_dir().join("result.json")
    }

    /// What the result must repeat.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    fn write_inputs(&self, layout: &JobInputs<'_>) -> io::Result<()> {
        create_private_dir(&self.job_dir())?;
        create_private_dir(&self.home_dir())?;
        self.write_file("prompt.md", layout.prompt.as_bytes())?;
        self.write_json("job.json", &self.build_job_document(layout))?;
        self.write_file("diff.patch", &truncate_diff(layout.diff))?;
        self.write_json("threads.json", layout.talk)?;
        self.write_json("checks.json", &build_checks_document(layout.checks))?;
        self.write_json("result.schema.json", payload::build_payload_schema::<ResultPayload>().as_value())?;
        let rules = self.job_dir().join("rules");
        create_private_dir(&rules)?;
        for (path, text) in layout.guidance {
            let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let to = rules.join(path);
            if let (true, Some(parent)) = (plain, to.parent()) {
                fs::create_dir_all(parent)?;
                fs::write(&to, text)?;
            }
        }
        Ok(())
    }

    fn build_job_document(&self, layout: &JobInputs<'_>) -> JobDocument {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let of_issue = layout.kind == JobKind::Impl;
        JobDocument {
            schema: "referee/job-1",
            r#type: layout.kind,
            repo: layout.repo.to_owned(),
            pull: (!of_issue).then_some(layout.number),
            issue: of_issue.then_some(layout.number),
            head: layout.head.clone(),
            base: layout.base.clone(),
            nonce: self.nonce.clone(),
            deadline: (now + layout.timeout).as_secs(),
            limits: JobLimits {
                seconds: layout.timeout.as_secs(),
                result_bytes: MAX_RESULT_BYTES,
                answers: MAX_RESULT_ITEMS,
            },
        }
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.write_file(name, text.as_bytes())
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::File::create_new(self.job_dir().join(name))?.write_all(bytes)
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        // Agents leave caches there, and what they logged in with.
        let _ = fs::remove_dir_all(self.home_dir());
    }
}

/// Removes folders of jobs that are a week old, the latest ones left out. What cannot be removed stays.
pub(crate) fn remove_old_folders(jobs: &Path) {
    let entries = fs::read_dir(jobs).into_iter().flatten().flatten();
    let mut folders: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let told = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            Some((told.modified().ok()?, entry.path()))
        })
        .collect();
    folders.sort_by(|one, other| other.cmp(one));
    for (at, folder) in folders.into_iter().skip(MIN_KEPT_FOLDERS) {
        if at.elapsed().is_ok_and(|age| age > MAX_FOLDER_AGE) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A folder that was not there before: another project may have the same name.
fn create_unique_dir(jobs: &Path, layout: &JobInputs<'_>) -> io::Result<PathBuf> {
    fs::create_dir_all(jobs)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let project: String = layout.project.chars().map(plain).take(60).collect();
    let name = format!("{project}-{}-{}", layout.number, layout.epoch);
    for again in 1..1000 {
        let name = if again == 1 { name.clone() } else { format!("{name}-again{again}") };
        match create_private_dir(&jobs.join(&name)) {
            Ok(()) => return Ok(jobs.join(name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Nobody guesses it: a worker that was not given this job cannot answer it.
fn generate_nonce() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn truncate_diff(diff: &[u8]) -> Vec<u8> {
    if diff.len() <= MAX_DIFF_BYTES {
        return diff.to_owned();
    }
    let kept = diff.get(..MAX_DIFF_BYTES).unwrap_or(diff);
    let end = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut kept = kept.get(..end).unwrap_or_default().to_owned();
    kept.extend_from_slice(b"# cut here: git has the rest\n");
    kept
}

fn build_checks_document(checks: &Checks) -> ChecksDocument<'_> {
    let (failed, pending) = (checks.names_in_state(CheckState::Fail), checks.names_in_state(CheckState::Pending));
    ChecksDocument { schema: "referee/checks-1", failed, pending }
}

#[cfg(test)]
mod tests;

//! How long a review of 3,000 new files takes, beside `ast-grep scan` with the same rules and files where that is on the path.
//!
//! `cargo bench -p referee-review --bench builtin [-- FOLDER]`: the files are those under FOLDER (default: this
//! repository's crates and the rules' samples), over again until there are enough.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use referee_core::model::{RoleName, Severity, Sha};
use referee_core::plan::{Brief, Reason, Scope};
use referee_core::rule::Rule;
use referee_core::track::{ChangeKind, DiffContent, FileDiff, Hunk, HunkRange};
use referee_review::builtin::{RuleSet, review_change};
use referee_review::change::ChangeSet;

const FILES: usize = 3000;
const RUNS: usize = 3;
const LANGUAGES: [&str; 5] = ["go", "javascript", "python", "rust", "typescript"];

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::args().skip(1).find(|it| !it.starts_with('-')).map_or(crates, PathBuf::from);
    let stage = tempfile::tempdir().expect("a folder can be made");
    let files = fill(&folder, &stage.path().join("files"));
    let bytes: u64 = files.iter().map(|path| fs::metadata(path).expect("it was written").len()).sum();
    say(&format!("{} files, {:.1} MB", files.len(), bytes as f64 / 1e6));

    let start = Instant::now();
    let rules = RuleSet::load_embedded().expect("the rules can be read");
    say(&format!("rules read in {:.1} ms", start.elapsed().as_secs_f64() * 1e3));
    let texts: Vec<Option<Vec<u8>>> = files.iter().map(|path| fs::read(path).ok()).collect();
    let bodies: Vec<Vec<u8>> = texts.iter().flatten().map(|text| as_added(text)).collect();
    let diffs: Vec<FileDiff<'_>> = files.iter().zip(&bodies).map(|(path, body)| diff(path, body)).collect();
    let ours = best(|| {
        let texts: Vec<Option<Vec<u8>>> = files.iter().map(|path| fs::read(path).ok()).collect();
        let change = ChangeSet { head: &Sha::from("head"), files: &diffs, contents: &texts };
        review_change(&brief(), &change, &change.select_files(&[], &[]), &rules).findings.len()
    });
    let peak = peak(std::process::id()).unwrap_or(0);
    say(&format!("review: {:.2} s, {} findings, {} MB at most", ours.0.as_secs_f64(), ours.1, peak / 1024));

    lay_out_rules(stage.path());
    let mut most = 0;
    let theirs = best(|| {
        let (found, peak) = scan(stage.path())?;
        most = peak.max(most);
        Some(found)
    });
    let Some(found) = theirs.1 else {
        say("ast-grep is not on the path: nothing to compare with");
        return;
    };
    let ratio = ours.0.as_secs_f64() / theirs.0.as_secs_f64();
    say(&format!("ast-grep scan: {:.2} s, {found} findings, {} MB at most", theirs.0.as_secs_f64(), most / 1024));
    say(&format!("ratio {ratio:.2}"));
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("the output takes it");
}

/// Copies files of our languages until there are enough.
fn fill(from: &Path, to: &Path) -> Vec<PathBuf> {
    let mut sources = Vec::new();
    walk(from, &mut sources);
    assert!(!sources.is_empty(), "no files of our languages");
    let mut files = Vec::new();
    for (number, source) in sources.iter().cycle().take(FILES).enumerate() {
        let folder = to.join(format!("d{}", number % 50));
        fs::create_dir_all(&folder).expect("a folder can be made");
        let end = source.extension().expect("it was chosen by it").to_string_lossy();
        let path = folder.join(format!("f{number}.{end}"));
        fs::copy(source, &path).expect("it can be copied");
        files.push(path);
    }
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    entries.sort();
    for path in entries {
        let end = path.extension().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, files);
        } else if ["go", "js", "py", "rs", "ts"].contains(&end.as_str()) {
            files.push(path);
        }
    }
}

fn as_added(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [b"+", line].concat()).collect()
}

fn diff<'a>(path: &Path, body: &'a [u8]) -> FileDiff<'a> {
    let range = HunkRange { old_start: 0, old_lines: 0, new_start: 1, new_lines: 0 };
    FileDiff {
        path: path.file_name().expect("a file has a name").to_string_lossy().into_owned(),
        old_path: None,
        kind: ChangeKind::Added,
        old_mode: None,
        new_mode: None,
        old_blob: None,
        new_blob: None,
        content: DiffContent::Text(vec![Hunk { range, body }]),
    }
}

fn brief() -> Brief {
    Brief {
        role: RoleName::from("static"),
        head: Sha::from("head"),
        scope: Scope::Whole,
        round: 1,
        priors: Vec::new(),
        floor: Severity::Suggestion,
        why: Reason::new(Rule::ReviewDue),
    }
}

/// The samples beside the rules are no rules.
fn lay_out_rules(stage: &Path) {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    fs::create_dir_all(stage.join("rules")).expect("a folder can be made");
    for language in LANGUAGES {
        for entry in fs::read_dir(rules.join(language)).into_iter().flatten().flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), stage.join("rules").join(entry.file_name())).expect("it can be copied");
            }
        }
    }
    fs::write(stage.join("sgconfig.yml"), "ruleDirs: [rules]\n").expect("it can be written");
}

/// How many findings, and how much memory at most.
fn scan(stage: &Path) -> Option<(usize, u64)> {
    let mut child = Command::new("ast-grep")
        .args(["scan", "--json=stream", "files"])
        .current_dir(stage)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = child.stdout.take()?;
    let (done, waits) = mpsc::channel();
    let lines = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut output, &mut text).expect("its output can be read");
        done.send(()).expect("somebody waits");
        text.iter().filter(|byte| **byte == b'\n').count()
    });
    let mut most = 0;
    while waits.recv_timeout(Duration::from_millis(10)).is_err() {
        most = peak(child.id()).unwrap_or(0).max(most);
    }
    child.wait().expect("it ended");
    Some((lines.join().expect("its output was read"), most))
}

fn best<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut runs = (0..RUNS).map(|_| {
        let start = Instant::now();
        let what = run();
        (start.elapsed(), what)
    });
    let first = runs.next().expect("there is one");
    runs.fold(first, |best, run| if run.0 < best.0 { run } else { best })
}

/// The most memory a process had, in kB, where the system tells.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

//! The folder of a job. The worker has `job/` in it, and works in `work/`; what it prints is kept beside them.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use referee_core::model::{CheckState, Checks, Sha};
use referee_core::plan::JobKind;
use schemars::JsonSchema;
use serde::Serialize;

use super::result::{MOST_BYTES, MOST_ITEMS, ResultPayload};
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
pub(crate) struct Layout<'a> {
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
    pub(crate) time: Duration,
    /// What it is told.
    pub(crate) prompt: &'a str,
    /// The change.
    pub(crate) diff: &'a [u8],
    /// What was said.
    pub(crate) talk: &'a Talk,
    /// The checks at the head.
    pub(crate) checks: &'a Checks,
    /// The repository's own guidance, by path.
    pub(crate) rules: &'a [(String, String)],
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
const MOST_DIFF: usize = 4 << 20;
/// How many folders stay, and for how long.
const KEPT: usize = 20;
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

impl JobFolder {
    /// Lays everything out in a new folder under `jobs`, that nobody else may look into.
    pub(crate) fn make(jobs: &Path, layout: &Layout<'_>) -> Result<Self, Failure> {
        let unusable = |error: io::Error| {
            Failure::failed(format!("no worker was started: `{}` cannot be used: {error}", jobs.display()))
                .hint("make room, or make the folder writable; `XDG_STATE_HOME` names another place")
        };
        let nonce = nonce().map_err(unusable)?;
        let path = fresh(jobs, layout).map_err(unusable)?;
        let folder = Self { path, nonce };
        folder.fill(layout).map_err(unusable)?;
        Ok(folder)
    }

    /// Where the worker finds its job, and leaves its result.
    pub(crate) fn job(&self) -> PathBuf {
        self.path.join("job")
    }

    /// Where the work copy goes.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The worker's home.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Where its prints go.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    /// Where its result is, if it leaves one.
    pub(crate) fn result(&self) -> PathBuf {
        self.job().join("result.json")
    }

    /// What the result must repeat.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    fn fill(&self, layout: &Layout<'_>) -> io::Result<()> {
        private(&self.job())?;
        private(&self.home())?;
        self.write("prompt.md", layout.prompt.as_bytes())?;
        self.document("job.json", &self.job_document(layout))?;
        self.write("diff.patch", &shortened(layout.diff))?;
        self.document("threads.json", layout.talk)?;
        self.document("checks.json", &checks(layout.checks))?;
        self.document("result.schema.json", payload::schema::<ResultPayload>().as_value())?;
        let rules = self.job().join("rules");
        private(&rules)?;
        for (path, text) in layout.rules {
            let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let to = rules.join(path);
            if let (true, Some(parent)) = (plain, to.parent()) {
                fs::create_dir_all(parent)?;
                fs::write(&to, text)?;
            }
        }
        Ok(())
    }

    fn job_document(&self, layout: &Layout<'_>) -> JobDocument {
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
            deadline: (now + layout.time).as_secs(),
            limits: JobLimits { seconds: layout.time.as_secs(), result_bytes: MOST_BYTES, answers: MOST_ITEMS },
        }
    }

    fn document(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        self.write(name, text.as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::File::create_new(self.job().join(name))?.write_all(bytes)
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        // Agents leave caches there, and what they logged in with.
        let _ = fs::remove_dir_all(self.home());
    }
}

/// Removes folders of jobs that are a week old, the latest ones left out. What cannot be removed stays.
pub(crate) fn sweep(jobs: &Path) {
    let entries = fs::read_dir(jobs).into_iter().flatten().flatten();
    let mut folders: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let told = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            Some((told.modified().ok()?, entry.path()))
        })
        .collect();
    folders.sort_by(|one, other| other.cmp(one));
    for (at, folder) in folders.into_iter().skip(KEPT) {
        if at.elapsed().is_ok_and(|age| age > WEEK) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A folder that was not there before: another project may have the same name.
fn fresh(jobs: &Path, layout: &Layout<'_>) -> io::Result<PathBuf> {
    fs::create_dir_all(jobs)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let project: String = layout.project.chars().map(plain).take(60).collect();
    let name = format!("{project}-{}-{}", layout.number, layout.epoch);
    for again in 1..1000 {
        let name = if again == 1 { name.clone() } else { format!("{name}-again{again}") };
        match private(&jobs.join(&name)) {
            Ok(()) => return Ok(jobs.join(name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn private(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Nobody guesses it: a worker that was not given this job cannot answer it.
fn nonce() -> io::Result<String> {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn shortened(diff: &[u8]) -> Vec<u8> {
    if diff.len() <= MOST_DIFF {
        return diff.to_owned();
    }
    let kept = diff.get(..MOST_DIFF).unwrap_or(diff);
    let end = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut kept = kept.get(..end).unwrap_or_default().to_owned();
    kept.extend_from_slice(b"# cut here: git has the rest\n");
    kept
}

fn checks(checks: &Checks) -> ChecksDocument<'_> {
    let (failed, pending) = (checks.named(CheckState::Fail), checks.named(CheckState::Pending));
    ChecksDocument { schema: "referee/checks-1", failed, pending }
}

#[cfg(test)]
mod tests;

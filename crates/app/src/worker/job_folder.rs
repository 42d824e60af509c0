//! The folder of a job: `job/` with the inputs and the result, `work/` with the work copy, `home/`, and the output log.

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

/// `job.json`: the job of a worker.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobDocument {
    pub(crate) schema: &'static str,
    pub(crate) r#type: JobKind,
    pub(crate) repo: String,
    /// Number of the pull, except for `impl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pull: Option<u64>,
    /// Number of the issue, for `impl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) issue: Option<u64>,
    /// The commit to start from.
    pub(crate) head: Sha,
    /// The tip of the target branch.
    pub(crate) base: Sha,
    /// The result must repeat it.
    pub(crate) nonce: String,
    /// In seconds since the Unix epoch. A worker that still runs then is killed.
    pub(crate) deadline: u64,
    pub(crate) limits: JobLimits,
}

/// Limits of a job.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobLimits {
    /// Time limit of the run.
    pub(crate) seconds: u64,
    /// Maximum size of `result.json`.
    pub(crate) result_bytes: u64,
    /// Maximum number of answers in the result.
    pub(crate) answers: usize,
}

/// The inputs of a job.
#[derive(Debug)]
pub(crate) struct JobInputs<'a> {
    /// Name of the project.
    pub(crate) project: &'a str,
    pub(crate) kind: JobKind,
    /// Full name of the repository, such as `acme/api`.
    pub(crate) repo: &'a str,
    /// Number of the pull or issue.
    pub(crate) number: u64,
    /// Epoch of the lease.
    pub(crate) epoch: u64,
    /// The commit to start from.
    pub(crate) head: &'a Sha,
    /// The tip of the target branch.
    pub(crate) base: &'a Sha,
    pub(crate) timeout: Duration,
    pub(crate) prompt: &'a str,
    /// The diff of the pull.
    pub(crate) diff: &'a [u8],
    pub(crate) talk: &'a Talk,
    /// The checks at the head.
    pub(crate) checks: &'a Checks,
    /// The repository's guidance files: path and text.
    pub(crate) guidance: &'a [(String, String)],
}

/// The folder of one job. Dropping the value removes the worker's home; inputs, result and log stay.
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

/// Size at which `diff.patch` is truncated. The worker can read the rest from git.
const MAX_DIFF_BYTES: usize = 4 << 20;
/// The latest folders are kept whatever their age.
const MIN_KEPT_FOLDERS: usize = 20;
const MAX_FOLDER_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

impl JobFolder {
    /// Creates a new folder under `jobs`, accessible to its owner only, and writes the inputs into it.
    pub(crate) fn create(jobs: &Path, inputs: &JobInputs<'_>) -> Result<Self, Failure> {
        let unusable = |error: io::Error| {
            Failure::failed(format!("no worker was started: `{}` cannot be used: {error}", jobs.display()))
                .with_hint("free disk space, or make the folder writable; `XDG_STATE_HOME` selects another folder")
        };
        let nonce = generate_nonce().map_err(unusable)?;
        let path = create_unique_dir(jobs, inputs).map_err(unusable)?;
        let folder = Self { path, nonce };
        folder.write_inputs(inputs).map_err(unusable)?;
        Ok(folder)
    }

    /// Returns the folder with the inputs, in which the worker leaves its result.
    pub(crate) fn job_dir(&self) -> PathBuf {
        self.path.join("job")
    }

    /// Returns the folder of the work copy.
    pub(crate) fn work_dir(&self) -> PathBuf {
        self.path.join("work")
    }

    pub(crate) fn home_dir(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.path.join("log.txt")
    }

    pub(crate) fn result_path(&self) -> PathBuf {
        self.job_dir().join("result.json")
    }

    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    fn write_inputs(&self, inputs: &JobInputs<'_>) -> io::Result<()> {
        create_private_dir(&self.job_dir())?;
        create_private_dir(&self.home_dir())?;
        self.write_file("prompt.md", inputs.prompt.as_bytes())?;
        self.write_json("job.json", &self.build_job_document(inputs))?;
        self.write_file("diff.patch", &truncate_diff(inputs.diff))?;
        self.write_json("threads.json", inputs.talk)?;
        self.write_json("checks.json", &build_checks_document(inputs.checks))?;
        self.write_json("result.schema.json", payload::build_payload_schema::<ResultPayload>().as_value())?;
        let rules = self.job_dir().join("rules");
        create_private_dir(&rules)?;
        for (path, text) in inputs.guidance {
            let stays_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let target = rules.join(path);
            if let (true, Some(parent)) = (stays_below, target.parent()) {
                fs::create_dir_all(parent)?;
                fs::write(&target, text)?;
            }
        }
        Ok(())
    }

    fn build_job_document(&self, inputs: &JobInputs<'_>) -> JobDocument {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let is_issue = inputs.kind == JobKind::Impl;
        JobDocument {
            schema: "referee/job-1",
            r#type: inputs.kind,
            repo: inputs.repo.to_owned(),
            pull: (!is_issue).then_some(inputs.number),
            issue: is_issue.then_some(inputs.number),
            head: inputs.head.clone(),
            base: inputs.base.clone(),
            nonce: self.nonce.clone(),
            deadline: (now + inputs.timeout).as_secs(),
            limits: JobLimits {
                seconds: inputs.timeout.as_secs(),
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
        // Agents leave caches and credentials in their home.
        let _ = fs::remove_dir_all(self.home_dir());
    }
}

/// Removes job folders that are older than a week, except the latest ones. Errors are ignored.
pub(crate) fn remove_old_folders(jobs: &Path) {
    let entries = fs::read_dir(jobs).into_iter().flatten().flatten();
    let mut folders: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            Some((metadata.modified().ok()?, entry.path()))
        })
        .collect();
    folders.sort_by(|one, other| other.cmp(one));
    for (modified_at, folder) in folders.into_iter().skip(MIN_KEPT_FOLDERS) {
        if modified_at.elapsed().is_ok_and(|age| age > MAX_FOLDER_AGE) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Creates a folder with a new name. Another project may have the same name, so a suffix is added if needed.
fn create_unique_dir(jobs: &Path, inputs: &JobInputs<'_>) -> io::Result<PathBuf> {
    fs::create_dir_all(jobs)?;
    let replace_special = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let project: String = inputs.project.chars().map(replace_special).take(60).collect();
    let name = format!("{project}-{}-{}", inputs.number, inputs.epoch);
    for attempt in 1..1000 {
        let name = if attempt == 1 { name.clone() } else { format!("{name}-again{attempt}") };
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

/// Returns 128 random bits in hex. Only a worker that was given this job can repeat them in a result.
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
    let end = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let mut kept = kept.get(..end).unwrap_or_default().to_owned();
    kept.extend_from_slice(b"# truncated here: git has the rest\n");
    kept
}

fn build_checks_document(checks: &Checks) -> ChecksDocument<'_> {
    let (failed, pending) = (checks.names_in_state(CheckState::Fail), checks.names_in_state(CheckState::Pending));
    ChecksDocument { schema: "referee/checks-1", failed, pending }
}

#[cfg(test)]
mod tests;

//! The sandbox around any program, for whoever wants to try it: what workers, `doctor` and the tests run in is this.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::{ResourceLimits, RunProgress, Sandbox, SandboxExit, resolve_requirements};
use crate::error::SandboxError;

/// Run a program in the sandbox.
#[derive(Debug, Args)]
pub(super) struct SandboxRunArgs {
    #[arg(long, default_value_t = 2)]
    tier: u8,
    #[arg(long, value_name = "HOST:PORT")]
    egress: Vec<String>,
    /// A variable of this environment that it gets
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// In milliseconds
    #[arg(long, default_value_t = 60_000)]
    deadline: u64,
    #[arg(long, default_value_t)]
    limits: ResourceLimits,
    /// Its folder: `work`, `job`, `home` and `log` are made in there
    #[arg(long)]
    folder: PathBuf,
    #[arg(long, default_value = "")]
    prompt: String,
    #[arg(last = true, required = true)]
    argv: Vec<String>,
}

impl SandboxRunArgs {
    /// Runs it, and says how it ended.
    pub(super) fn run(&self) -> Result<serde_json::Value, SandboxError> {
        let (tier, egress) = resolve_requirements(self.tier, &self.egress)?;
        let folder = std::path::absolute(&self.folder);
        let folder = folder.map_err(|error| SandboxError::refused(format!("nothing runs: `--folder`: {error}")))?;
        let [work, job, home] = ["work", "job", "home"].map(|name| folder.join(name));
        for path in [&work, &job, &home] {
            std::fs::create_dir_all(path)
                .map_err(|error| SandboxError::refused(format!("nothing runs: `{}`: {error}", path.display())))?;
        }
        let value = |name: &String| std::env::var(name).ok().map(|value| (name.clone(), value));
        let sandbox = Sandbox {
            tier,
            work_dir: work,
            job_dir: job,
            home_dir: home,
            egress,
            env: self.env.iter().filter_map(value).collect(),
            timeout: Duration::from_millis(self.deadline),
            log_path: folder.join("log"),
            limits: self.limits,
        };
        let mut last = None;
        let ended = match sandbox.run(&self.argv, &self.prompt, &mut |beat| last = Some(beat))? {
            SandboxExit::Exited(code) => json!(code),
            SandboxExit::Signalled => json!("signalled"),
            SandboxExit::TimedOut => json!("timed out"),
        };
        let RunProgress { elapsed, output_bytes: printed, truncated: cut } =
            last.unwrap_or(RunProgress { elapsed: Duration::ZERO, output_bytes: 0, truncated: false });
        let elapsed = elapsed.as_secs_f64();
        Ok(json!({ "ended": ended, "elapsed": elapsed, "printed": printed, "cut": cut }))
    }
}

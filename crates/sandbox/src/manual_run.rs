//! The `run` helper: runs any program in a sandbox, the way workers and probes are run.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    ResourceLimits, RunProgress, Sandbox, SandboxError, SandboxErrorKind, SandboxExit, Tier, resolve_requirements,
};

const DEFAULT_TIMEOUT_MS: u64 = 60_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunRequest {
    pub(super) tier: u8,
    #[serde(default)]
    pub(super) egress: Vec<String>,
    /// Names of variables to pass on to the program.
    #[serde(default)]
    pub(super) env: Vec<String>,
    #[serde(default = "default_timeout")]
    pub(super) timeout_ms: u64,
    #[serde(default)]
    pub(super) limits: ResourceLimits,
    /// `work`, `job`, `home` and `log` are created in this folder.
    pub(super) folder: PathBuf,
    #[serde(default)]
    pub(super) prompt: String,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT_MS
}

impl RunRequest {
    pub(super) fn new(tier: Tier, folder: PathBuf) -> Self {
        Self {
            tier: tier as u8,
            egress: Vec::new(),
            env: Vec::new(),
            timeout_ms: DEFAULT_TIMEOUT_MS,
            limits: ResourceLimits::default(),
            folder,
            prompt: String::new(),
        }
    }

    /// Runs the program and prints how it ended as JSON, or an error with its hint.
    pub(super) fn run_and_print(&self, argv: &[OsString]) -> io::Result<ExitCode> {
        match self.run(argv) {
            Ok(report) => writeln!(io::stdout(), "{report}").map(|()| ExitCode::SUCCESS),
            Err(error) => {
                writeln!(io::stderr(), "error: {error}")?;
                if let Some(hint) = error.hint {
                    writeln!(io::stderr(), "\nhint: {hint}")?;
                }
                Ok(ExitCode::from(match error.kind {
                    SandboxErrorKind::Refused => 2,
                    SandboxErrorKind::Failed => 1,
                }))
            }
        }
    }

    fn run(&self, argv: &[OsString]) -> Result<Value, SandboxError> {
        let (tier, egress) = resolve_requirements(self.tier, &self.egress)?;
        let unusable = |error: io::Error| {
            SandboxError::refused(format!("the program cannot run: `{}`: {error}", self.folder.display()))
        };
        let folder = std::path::absolute(&self.folder).map_err(unusable)?;
        let [work_dir, job_dir, home_dir] = ["work", "job", "home"].map(|name| folder.join(name));
        for path in [&work_dir, &job_dir, &home_dir] {
            std::fs::create_dir_all(path).map_err(unusable)?;
        }
        let read_variable = |name: &String| std::env::var(name).ok().map(|value| (name.clone(), value));
        let sandbox = Sandbox {
            tier,
            work_dir,
            job_dir,
            home_dir,
            egress,
            env: self.env.iter().filter_map(read_variable).collect(),
            timeout: Duration::from_millis(self.timeout_ms),
            log_path: folder.join("log"),
            secrets: Vec::new(),
            limits: self.limits,
        };
        let argv: Vec<String> = argv.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let mut last = RunProgress { elapsed: Duration::ZERO, output_bytes: 0, truncated: false };
        let ended = match sandbox.run(&argv, &self.prompt, &mut |progress| last = progress)? {
            SandboxExit::Exited(code) => json!(code),
            SandboxExit::Signalled => json!("signalled"),
            SandboxExit::TimedOut => json!("timed out"),
        };
        let RunProgress { elapsed, output_bytes, truncated } = last;
        Ok(json!({
            "ended": ended,
            "elapsed": elapsed.as_secs_f64(),
            "output_bytes": output_bytes,
            "truncated": truncated,
        }))
    }
}

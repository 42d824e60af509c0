//! Runs the guard of a sandbox and reports how the program inside ended.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use super::cgroup::Cgroup;
use super::error::SandboxError;
use super::helper_process::{self, HelperRequest};
use super::output_log::OutputLog;
use super::relay::Relay;
use super::supervisor::{ExitCause, OutputTarget, ProcessExit, Supervisor};
use super::{RunProgress, Sandbox, SandboxExit, Tier, bubblewrap, environment, is_installed};

/// How long the guard may take to kill everything, and the last output to arrive.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// More than the one line in which the guard reports the exit.
const MAX_REPORT_BYTES: usize = 1024;

pub(super) fn run(
    sandbox: &Sandbox,
    argv: &[String],
    prompt: &str,
    on_progress: &mut dyn FnMut(RunProgress),
) -> Result<SandboxExit, SandboxError> {
    let failed =
        |what: &str, error: io::Error| SandboxError::failed(format!("the program did not run: {what}: {error}"));
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if !is_installed(program) {
        return Err(SandboxError::refused(format!("the worker cannot run: `{program}` is not on the PATH"))
            .with_hint("install the agent, or correct its `argv` in the operator file"));
    }
    // Tokens are in the environment of this process. Below tier 2 the program may run as the same user and could read
    // them from `/proc`, unless this process is not dumpable.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    fs::create_dir_all(sandbox.home_dir.join("tmp")).map_err(|error| failed("cannot create its home", error))?;
    let log = OutputLog::create(&sandbox.log_path, sandbox.limits.log_bytes, &sandbox.secrets)
        .map_err(|error| failed("cannot create its log", error))?;
    let log = Arc::new(log);
    let folder = tempfile::Builder::new().prefix("referee-sandbox-").tempdir();
    let folder = folder.map_err(|error| failed("cannot create a temporary folder", error))?;
    let relay = match sandbox.tier {
        Tier::Bubblewrap if !sandbox.egress.is_empty() => Some(
            Relay::open(&folder.path().join("relay"), &sandbox.egress, &log)
                .map_err(|error| failed("cannot open the network relay", error))?,
        ),
        _ => None,
    };
    let cgroup = Cgroup::create(&sandbox.limits);
    let started = Instant::now();
    let mut report_progress = || on_progress(measure_progress(started, &log));
    let exit = build_guard_command(sandbox, argv, folder.path(), cgroup.as_ref())
        .and_then(|guard| supervise_guard(guard, sandbox, prompt, &log, &mut report_progress));
    if let Some(cgroup) = cgroup {
        cgroup.kill_and_remove();
    }
    drop(relay);
    log.flush();
    report_progress();
    exit.map_err(|error| failed("cannot start its guard", error))
}

fn measure_progress(started: Instant, log: &OutputLog) -> RunProgress {
    let (output_bytes, truncated) = log.byte_count();
    RunProgress { elapsed: started.elapsed(), output_bytes, truncated }
}

fn build_guard_command(
    sandbox: &Sandbox,
    argv: &[String],
    folder: &Path,
    cgroup: Option<&Cgroup>,
) -> io::Result<Command> {
    let executable = std::env::current_exe()?;
    let request = HelperRequest::Guard { cgroup: cgroup.map(|cgroup| cgroup.folder().to_owned()) };
    let mut guard = Command::new(&executable);
    guard.args(request.to_arguments()?);
    match sandbox.tier {
        Tier::Scrubbed | Tier::OwnHome => {
            let enter = HelperRequest::Enter { limits: sandbox.limits, tunnel: None };
            guard.arg(&executable).args(enter.to_arguments()?);
        }
        Tier::Bubblewrap => {
            guard.args(bubblewrap::build_arguments(sandbox, argv, folder, &executable)?);
        }
    }
    guard.args(argv).current_dir(&sandbox.work_dir).env_clear().envs(environment::build_environment(sandbox));
    Ok(guard)
}

/// Runs the guard. Its stdout carries the report, its stderr all output of the program.
fn supervise_guard(
    guard: Command,
    sandbox: &Sandbox,
    prompt: &str,
    log: &Arc<OutputLog>,
    report_progress: &mut dyn FnMut(),
) -> io::Result<SandboxExit> {
    let log = Arc::clone(log);
    let exit = Supervisor::new(guard, sandbox.timeout)
        .input(format!("{}\n{prompt}", prompt.len()).into_bytes())
        .stdout(OutputTarget::Tail { max_bytes: MAX_REPORT_BYTES })
        .stderr(OutputTarget::Callback(Box::new(move |chunk| log.append(chunk))))
        .guarded(SHUTDOWN_GRACE)
        .run(report_progress)?;
    Ok(classify_exit(sandbox.tier, &exit))
}

fn classify_exit(tier: Tier, guard: &ProcessExit) -> SandboxExit {
    let report = String::from_utf8_lossy(&guard.stdout);
    match report.lines().find_map(helper_process::parse_exit) {
        // Bubblewrap and the tunnel report a signal as 128 plus its number.
        Some(SandboxExit::Exited(code)) if code > 128 && tier == Tier::Bubblewrap => SandboxExit::Signalled,
        // The guard reports an exit only if the program ended before the guard was told to kill it.
        Some(exit) => exit,
        None if guard.cause == ExitCause::Timeout => SandboxExit::TimedOut,
        // Something else killed the guard.
        None => SandboxExit::Signalled,
    }
}

//! A run, from outside.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{DumpableBehavior, Pid, Signal, kill_process, kill_process_group, set_dumpable_behavior};

use super::cgroup::Cgroup;
use super::output_log::OutputLog;
use super::relay::Relay;
use super::{RunProgress, Sandbox, SandboxExit, Tier, bubblewrap, environment, subcommand};
use crate::error::SandboxError;

/// How often there is a sign of life.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How long the guard may take to end all, and the last prints to arrive.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(20);

/// What the threads of a run tell.
enum RunEvent {
    /// The guard's line.
    GuardReported(SandboxExit),
    /// The guard is gone.
    GuardGone,
    /// Nobody prints any more.
    OutputClosed,
}

pub(super) fn run(
    sandbox: &Sandbox,
    argv: &[String],
    prompt: &str,
    tick: &mut dyn FnMut(RunProgress),
) -> Result<SandboxExit, SandboxError> {
    let failed =
        |what: &str, error: std::io::Error| SandboxError::failed(format!("the program did not run: {what}: {error}"));
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if !super::is_installed(program) {
        return Err(SandboxError::refused(format!("the worker cannot run: `{program}` is not on the PATH"))
            .with_hint("install the agent, or correct its `argv` in the operator file"));
    }
    // Tokens are in this process's environment, and below tier 2 the agent may be of the same user.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    fs::create_dir_all(sandbox.home_dir.join("tmp")).map_err(|error| failed("its home", error))?;
    let printed =
        OutputLog::open(&sandbox.log_path, sandbox.limits.log_bytes).map_err(|error| failed("its log", error))?;
    let printed = Arc::new(printed);
    let folder = tempfile::Builder::new().prefix("referee-sandbox-").tempdir();
    let folder = folder.map_err(|error| failed("a folder for its way out", error))?;
    let relay = match sandbox.tier {
        Tier::Bubblewrap if !sandbox.egress.is_empty() => Some(
            Relay::open(&folder.path().join("relay"), &sandbox.egress, &printed)
                .map_err(|error| failed("its way out", error))?,
        ),
        _ => None,
    };
    let fence = Cgroup::create(&sandbox.limits);
    let started = Instant::now();
    let guard = spawn_guard(sandbox, argv, folder.path(), fence.as_ref()).map_err(|error| failed("its guard", error));
    let ended = guard.and_then(|guard| {
        supervise(guard, sandbox, prompt, &printed, started, tick).map_err(|error| failed("its guard", error))
    });
    if let Some(fence) = fence {
        fence.kill_and_remove();
    }
    drop(relay);
    tick(measure_progress(started, &printed));
    ended
}

fn measure_progress(started: Instant, printed: &OutputLog) -> RunProgress {
    let (printed, cut) = printed.byte_count();
    RunProgress { elapsed: started.elapsed(), output_bytes: printed, truncated: cut }
}

fn spawn_guard(sandbox: &Sandbox, argv: &[String], folder: &Path, fence: Option<&Cgroup>) -> std::io::Result<Child> {
    let own = std::env::current_exe()?;
    let mut guard = Command::new(&own);
    guard.args(["sandbox", "guard"]);
    if let Some(fence) = fence {
        guard.arg("--fence").arg(fence.folder());
    }
    guard.arg("--");
    match sandbox.tier {
        Tier::Scrubbed | Tier::OwnHome => {
            guard.arg(&own).args(["sandbox", "enter", "--limits", &sandbox.limits.to_string(), "--"]);
        }
        Tier::Bubblewrap => {
            guard.args(bubblewrap::build_arguments(sandbox, argv, folder, &own)?);
        }
    }
    guard.args(argv).current_dir(&sandbox.work_dir).env_clear().envs(environment::build_environment(sandbox));
    guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn supervise(
    mut guard: Child,
    sandbox: &Sandbox,
    prompt: &str,
    printed: &Arc<OutputLog>,
    started: Instant,
    tick: &mut dyn FnMut(RunProgress),
) -> std::io::Result<SandboxExit> {
    let pid = i32::try_from(guard.id()).ok().and_then(Pid::from_raw);
    let (tell, told) = mpsc::channel();
    if let Some(prints) = guard.stderr.take() {
        let (tell, printed) = (tell.clone(), Arc::clone(printed));
        thread::spawn(move || {
            printed.drain(prints);
            let _ = tell.send(RunEvent::OutputClosed);
        });
    }
    let reports = guard.stdout.take();
    thread::spawn(move || {
        for line in reports.into_iter().flat_map(|reports| BufReader::new(reports).lines()).map_while(Result::ok) {
            if let Some(ended) = subcommand::parse_exit(&line) {
                let _ = tell.send(RunEvent::GuardReported(ended));
            }
        }
        let _ = tell.send(RunEvent::GuardGone);
    });
    let mut hold = guard.stdin.take();
    if let Some(stdin) = &mut hold {
        // Where this fails the guard is gone already, and is found so.
        let _ = send_prompt(stdin, prompt);
    }
    let mut next = || tick(measure_progress(started, printed));
    let seen = wait_for_guard(&told, &mut hold, started, sandbox.timeout, &mut next);
    if seen.guard_hung
        && let Some(pid) = pid
    {
        let _ = kill_process(pid, Signal::KILL);
    }
    guard.wait()?;
    if let Some(pid) = pid {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    // Whoever holds the other end is dead by now, or is not to be waited for.
    while !seen.output_closed
        && matches!(told.recv_timeout(SHUTDOWN_GRACE), Ok(RunEvent::GuardReported(_) | RunEvent::GuardGone))
    {}
    match seen.exit {
        _ if seen.timed_out => Ok(SandboxExit::TimedOut),
        // Bubblewrap and the tunnel know no other way to say it.
        Some(SandboxExit::Exited(code)) if code > 128 && sandbox.tier == Tier::Bubblewrap => Ok(SandboxExit::Signalled),
        Some(ended) => Ok(ended),
        // Whoever ended the guard was not the sandbox.
        None => Ok(SandboxExit::Signalled),
    }
}

fn send_prompt(stdin: &mut ChildStdin, prompt: &str) -> std::io::Result<()> {
    writeln!(stdin, "{}", prompt.len())?;
    stdin.write_all(prompt.as_bytes())?;
    stdin.flush()
}

/// What was seen until the guard was gone.
#[derive(Default)]
struct RunObservation {
    exit: Option<SandboxExit>,
    timed_out: bool,
    output_closed: bool,
    guard_hung: bool,
}

fn wait_for_guard(
    told: &Receiver<RunEvent>,
    hold: &mut Option<ChildStdin>,
    started: Instant,
    deadline: Duration,
    tick: &mut dyn FnMut(),
) -> RunObservation {
    let mut seen = RunObservation::default();
    loop {
        let left = match hold {
            Some(_) => deadline.saturating_sub(started.elapsed()),
            None => (deadline + SHUTDOWN_GRACE).saturating_sub(started.elapsed()),
        };
        match told.recv_timeout(left.min(PROGRESS_INTERVAL)) {
            Ok(RunEvent::GuardReported(ended)) => seen.exit = Some(ended),
            Ok(RunEvent::OutputClosed) => seen.output_closed = true,
            Ok(RunEvent::GuardGone) | Err(RecvTimeoutError::Disconnected) => return seen,
            Err(RecvTimeoutError::Timeout) if started.elapsed() < deadline => tick(),
            Err(RecvTimeoutError::Timeout) if hold.is_some() => {
                seen.timed_out = seen.exit.is_none();
                *hold = None;
            }
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= deadline + SHUTDOWN_GRACE => {
                seen.guard_hung = true;
                return seen;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

//! Helper processes: this executable started again as `referee sandbox REQUEST [ARGV…]`, with the request as JSON.
//!
//! | request | what the process does |
//! |---|---|
//! | `guard` | starts `ARGV`, and kills all its descendants when it ends or stdin closes |
//! | `enter` | applies the limits, opens the network tunnel, and becomes `ARGV` |
//! | `probe` | attempts to break out of the sandbox it runs in |
//! | `run` | runs `ARGV` in a sandbox and prints how it ended; for probes and tests |

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{
    DumpableBehavior, Pid, Signal, getpid, set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal,
    setsid,
};
use rustix::thread::set_no_new_privs;
use serde::{Deserialize, Serialize};

use super::cgroup::Cgroup;
use super::manual_run::RunRequest;
use super::probe::{ProbeFacts, run_inside_probes};
use super::tunnel::{self, TunnelRequest};
use super::{ResourceLimits, SandboxExit, reaper};

const HELPER_COMMAND: &str = "sandbox";

/// The exit code of shells for a program that could not be started.
const EXIT_NOT_STARTED: u8 = 127;

const EXIT_BAD_REQUEST: u8 = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HelperRequest {
    Guard { cgroup: Option<PathBuf> },
    Enter { limits: ResourceLimits, tunnel: Option<TunnelRequest> },
    Probe(ProbeFacts),
    Run(RunRequest),
}

impl HelperRequest {
    /// Returns the arguments with which this executable becomes the helper. The arguments of the program follow them.
    pub(super) fn to_arguments(&self) -> io::Result<[String; 2]> {
        Ok([HELPER_COMMAND.to_owned(), serde_json::to_string(self)?])
    }

    fn run(self, argv: &[OsString]) -> io::Result<ExitCode> {
        match self {
            Self::Guard { cgroup } => run_guard(cgroup.map(|folder| Cgroup::from_folder(&folder)), argv),
            Self::Enter { limits, tunnel } => enter_sandbox(limits, tunnel.as_ref(), argv),
            Self::Probe(facts) => run_inside_probes(&facts).map(|()| ExitCode::SUCCESS),
            Self::Run(request) => request.run_and_print(argv),
        }
    }
}

pub(super) fn run_if_invoked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HELPER_COMMAND {
        return None;
    }
    let request = arguments.next().unwrap_or_default();
    let argv: Vec<OsString> = arguments.collect();
    let report = |error: &dyn std::fmt::Display, code| {
        let _ = writeln!(io::stderr(), "sandbox: {error}");
        ExitCode::from(code)
    };
    Some(match serde_json::from_slice::<HelperRequest>(request.as_encoded_bytes()) {
        Ok(request) => request.run(&argv).unwrap_or_else(|error| report(&error, EXIT_NOT_STARTED)),
        Err(error) => report(&error, EXIT_BAD_REQUEST),
    })
}

/// Runs the guard. Its stdin carries the length of the prompt on a line, then the prompt, and then stays open until
/// everything is to be killed.
fn run_guard(cgroup: Option<Cgroup>, argv: &[OsString]) -> io::Result<ExitCode> {
    // The parent of referee may have leaked file descriptors to it.
    close_fds::set_fds_cloexec(3, &[]);
    // A session without a controlling terminal: the program cannot inject input into the user's terminal.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    // Below tier 2 the program may run as the same user: it must not read the memory of this process.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    if let Some(cgroup) = &cgroup {
        cgroup.enter()?;
    }
    let prompt = read_prompt()?;
    let mut child = build_command(argv, Stdio::piped())?.spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(mut stdin) = child.stdin.take() {
        // The program may never read its prompt, or exit before it has.
        thread::spawn(move || drop(stdin.write_all(&prompt)));
    }
    let (exited, ended) = mpsc::channel();
    let stdin_closed = exited.clone();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = stdin_closed.send(None);
    });
    thread::spawn(move || {
        let _ = exited.send(child.wait().ok());
    });
    let status = ended.recv().unwrap_or(None);
    if let Some(group) = group {
        reaper::kill_descendants(group);
    }
    if let Some(status) = status {
        let _ = writeln!(io::stdout(), "{}", format_exit(status));
    }
    if let Some(cgroup) = &cgroup {
        cgroup.leave();
    }
    Ok(ExitCode::SUCCESS)
}

fn read_prompt() -> io::Result<Vec<u8>> {
    let mut length = String::new();
    let mut stdin = io::stdin().lock();
    stdin.read_line(&mut length)?;
    let length = length.trim().parse().map_err(|_| io::Error::other("the guard received no prompt"))?;
    let mut prompt = vec![0; length];
    stdin.read_exact(&mut prompt)?;
    Ok(prompt)
}

/// Renders the line in which the guard reports how the program ended.
fn format_exit(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signalled {signal}"),
        None => format!("exited {}", status.code().unwrap_or(i32::from(EXIT_NOT_STARTED))),
    }
}

/// Parses the line that [`format_exit`] renders.
pub(super) fn parse_exit(line: &str) -> Option<SandboxExit> {
    match line.trim_end().split_once(' ')? {
        ("exited", code) => code.parse().ok().map(SandboxExit::Exited),
        ("signalled", _) => Some(SandboxExit::Signalled),
        _ => None,
    }
}

fn enter_sandbox(limits: ResourceLimits, tunnel: Option<&TunnelRequest>, argv: &[OsString]) -> io::Result<ExitCode> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Fails in bubblewrap, where this process already leads a session.
    let _ = setsid();
    set_no_new_privs(true)?;
    let Some(tunnel) = tunnel else {
        limits.apply()?;
        return Err(build_command(argv, Stdio::inherit())?.exec());
    };
    // The tunnel lives in this process, so that the program becomes a child.
    let proxy_variables = tunnel::open(tunnel)?;
    limits.apply()?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let status = build_command(argv, Stdio::inherit())?.envs(proxy_variables).spawn()?.wait()?;
    let code =
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(i32::from(EXIT_NOT_STARTED));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Builds a command whose stdout and stderr both go to stderr of this process: they share one log, in order.
fn build_command(argv: &[OsString], stdin: Stdio) -> io::Result<Command> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("there is no program to run"))?;
    let mut command = Command::new(program);
    let stderr = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
    command.args(arguments).stdin(stdin).stdout(stderr()?).stderr(stderr()?);
    Ok(command)
}

//! The two that stand between referee and the agent. Both are this program again, in a process of their own.

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use clap::{Parser, Subcommand};
use rustix::process::{
    DumpableBehavior, Pid, Signal, getpid, set_child_subreaper, set_dumpable_behavior, set_parent_process_death_signal,
    setsid,
};
use rustix::thread::set_no_new_privs;

use super::cgroup::Cgroup;
use super::manual_run::SandboxRunArgs;
use super::tunnel::{self, TunnelArgs};
use super::{ResourceLimits, SandboxErrorKind, SandboxExit};

/// Runs the part that this process was started for, if it was started as one. People are not offered these: they are in no
/// help and no completion.
pub(super) fn run_if_invoked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1).peekable();
    (words.peek()? == "sandbox").then(|| match SandboxArgs::try_parse_from(words) {
        Ok(inside) => inside.run(),
        Err(error) => {
            let _ = error.print();
            ExitCode::from(2)
        }
    })
}

/// Stand around a worker.
#[derive(Debug, Parser)]
struct SandboxArgs {
    #[command(subcommand)]
    part: SandboxCommand,
}

#[derive(Debug, Subcommand)]
enum SandboxCommand {
    /// Run a program as a worker is run
    Run(SandboxRunArgs),
    /// Try what a worker might
    Probe { facts: String },
    /// Start a program, and end all that came of it
    Guard {
        /// The control group to go into
        #[arg(long)]
        fence: Option<PathBuf>,
        #[arg(last = true, required = true)]
        argv: Vec<OsString>,
    },
    /// Take the limits, and become the program
    Enter {
        #[arg(long)]
        limits: ResourceLimits,
        #[command(flatten)]
        tunnel: TunnelArgs,
        #[arg(last = true, required = true)]
        argv: Vec<OsString>,
    },
}

impl SandboxArgs {
    fn run(self) -> ExitCode {
        let done = match self.part {
            SandboxCommand::Run(by_hand) => {
                return match by_hand.run() {
                    Ok(ended) => {
                        let _ = writeln!(io::stdout(), "{ended}");
                        ExitCode::SUCCESS
                    }
                    Err(failure) => {
                        let _ = writeln!(io::stderr(), "error: {failure}");
                        if let Some(hint) = failure.hint {
                            let _ = writeln!(io::stderr(), "\nhint: {hint}");
                        }
                        ExitCode::from(match failure.kind {
                            SandboxErrorKind::Refused => 2,
                            SandboxErrorKind::Failed => 1,
                        })
                    }
                };
            }
            SandboxCommand::Probe { facts } => super::probe::run_inside_probes(&facts).map(|()| ExitCode::SUCCESS),
            SandboxCommand::Guard { fence, argv } => run_guard(fence.map(|folder| Cgroup::from_folder(&folder)), &argv),
            SandboxCommand::Enter { limits, tunnel, argv } => enter_sandbox(limits, &tunnel, &argv),
        };
        match done {
            Ok(code) => code,
            Err(error) => {
                let _ = writeln!(io::stderr(), "sandbox: {error}");
                ExitCode::from(EXIT_NOT_STARTED)
            }
        }
    }
}

/// As shells say it.
const EXIT_NOT_STARTED: u8 = 127;

/// Its stdin is the prompt's length in a line, the prompt, and then silence until all is to end.
fn run_guard(fence: Option<Cgroup>, argv: &[OsString]) -> io::Result<ExitCode> {
    // Whoever started referee may have left something open.
    close_fds::set_fds_cloexec(3, &[]);
    // A session of its own: no terminal can be reached from in there.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    // The agent may be of the same user: it shall not look into this one.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    if let Some(fence) = &fence {
        fence.enter()?;
    }
    let prompt = read_prompt()?;
    let mut child = build_command(argv, Stdio::piped())?.spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (tell, told) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // It may never read, or end before it has.
        thread::spawn(move || drop(stdin.write_all(&prompt)));
    }
    let end = tell.clone();
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = end.send(None);
    });
    thread::spawn(move || {
        let _ = tell.send(child.wait().ok());
    });
    let status = told.recv().unwrap_or(None);
    if let Some(group) = group {
        super::reaper::kill_descendants(group);
    }
    if let Some(status) = status {
        let _ = writeln!(io::stdout(), "{}", format_exit(status));
    }
    if let Some(fence) = &fence {
        fence.leave();
    }
    Ok(ExitCode::SUCCESS)
}

fn read_prompt() -> io::Result<Vec<u8>> {
    let mut length = String::new();
    let mut stdin = io::stdin().lock();
    stdin.read_line(&mut length)?;
    let length = length.trim().parse().map_err(|_| io::Error::other("the guard was told nothing"))?;
    let mut prompt = vec![0; length];
    stdin.read_exact(&mut prompt)?;
    Ok(prompt)
}

/// How the guard says how it ended.
fn format_exit(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signalled {signal}"),
        None => format!("exited {}", status.code().unwrap_or(i32::from(EXIT_NOT_STARTED))),
    }
}

/// The same, read.
pub(super) fn parse_exit(line: &str) -> Option<SandboxExit> {
    match line.trim_end().split_once(' ')? {
        ("exited", code) => code.parse().ok().map(SandboxExit::Exited),
        ("signalled", _) => Some(SandboxExit::Signalled),
        _ => None,
    }
}

fn enter_sandbox(limits: ResourceLimits, tunnel: &TunnelArgs, argv: &[OsString]) -> io::Result<ExitCode> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // In bubblewrap it already leads one.
    let _ = setsid();
    set_no_new_privs(true)?;
    let proxy = tunnel::open(tunnel)?;
    limits.apply()?;
    let mut command = build_command(argv, Stdio::inherit())?;
    if !tunnel.is_needed() {
        return Err(command.exec());
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let status = command.envs(proxy).spawn()?.wait()?;
    let code =
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(i32::from(EXIT_NOT_STARTED));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// All that it prints goes one way.
fn build_command(argv: &[OsString], stdin: Stdio) -> io::Result<Command> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("there is nothing to run"))?;
    let mut command = Command::new(program);
    let prints = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
    command.args(arguments).stdin(stdin).stdout(prints()?).stderr(prints()?);
    Ok(command)
}

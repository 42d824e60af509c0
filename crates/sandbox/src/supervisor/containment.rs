//! How the supervisor kills everything that a process started, even when the supervisor itself is killed.
//!
//! | containment | what kills the descendants | when |
//! |---|---|---|
//! | group | a shell that leads their process group and reads a pipe | the pipe ends without a line |
//! | guard | the process itself, which is a guard of the sandbox | its stdin ends |
//!
//! In both rows this process holds the other end of the pipe. The kernel closes it however this process ends, also by
//! SIGKILL, so that descendants never outlive it.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use super::POLL_INTERVAL;
use process_group::ProcessGroup;

/// How long descendants may keep the output open after the process has ended.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

pub(super) enum Containment {
    Group(ProcessGroup),
    Guard {
        /// How long the guard may take to kill its descendants and exit.
        grace: Duration,
        /// Keeps the guard's stdin open.
        stdin: Option<Sender<()>>,
    },
}

impl Containment {
    pub(super) fn start(guard_grace: Option<Duration>) -> Self {
        match guard_grace {
            Some(grace) => Self::Guard { grace, stdin: None },
            None => Self::Group(ProcessGroup::start()),
        }
    }

    /// Prepares a command so that its process and its descendants can be killed.
    pub(super) fn join(&self, command: &mut Command) {
        match self {
            Self::Group(group) => group.join(command),
            Self::Guard { .. } => {}
        }
    }

    /// Keeps stdin open for a guard; for any other process stdin ends after its input.
    pub(super) fn hold_stdin(&mut self, hold: Sender<()>) {
        match self {
            Self::Group(_) => drop(hold),
            Self::Guard { stdin, .. } => *stdin = Some(hold),
        }
    }

    /// Returns how long to wait for the end of the output once the process has ended.
    pub(super) fn drain_grace(&self) -> Duration {
        match self {
            Self::Group(_) => DRAIN_GRACE,
            Self::Guard { grace, .. } => *grace,
        }
    }

    /// Kills the process and its descendants, and reaps the process.
    pub(super) fn kill_tree(&mut self, child: &mut Child) -> io::Result<()> {
        if let Self::Guard { grace, stdin } = self {
            *stdin = None;
            let asked = Instant::now();
            while child.try_wait()?.is_none() && asked.elapsed() < *grace {
                thread::park_timeout(POLL_INTERVAL);
            }
        }
        self.kill_descendants(child);
        // Without a process group (no shell, or not UNIX) the process is still alive.
        let _ = child.kill();
        child.wait().map(drop)
    }

    /// Kills what is left of the process group.
    pub(super) fn kill_descendants(&mut self, child: &Child) {
        match self {
            Self::Group(group) => group.kill(),
            Self::Guard { .. } => kill_group_of(child),
        }
    }

    /// Lets descendants live that the process left behind on purpose, such as a build server.
    pub(super) fn release(&mut self) {
        match self {
            Self::Group(group) => group.release(),
            Self::Guard { stdin, .. } => *stdin = None,
        }
    }
}

/// Kills the process group that a guard leads. A guard calls `setsid` first, so that the group has its id.
#[cfg(target_os = "linux")]
fn kill_group_of(guard: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(guard.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_group_of(_guard: &Child) {}

#[cfg(unix)]
mod process_group {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    /// A process group led by a shell that kills it when this process closes a pipe. `None` if there is no shell: then
    /// only the process itself is killed.
    pub(in crate::supervisor) struct ProcessGroup(Option<Child>);

    const LEADER_SCRIPT: &str = "read -r released || kill -s KILL 0";

    impl ProcessGroup {
        pub(super) fn start() -> Self {
            let mut shell = Command::new("sh");
            shell.args(["-c", LEADER_SCRIPT]).process_group(0);
            Self(shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
        }

        pub(super) fn join(&self, command: &mut Command) {
            let leader = self.0.as_ref().and_then(|shell| i32::try_from(shell.id()).ok());
            command.process_group(leader.unwrap_or(0));
        }

        /// Sends SIGKILL to the group; the leader dies with it.
        pub(super) fn kill(&mut self) {
            let Some(mut shell) = self.0.take() else { return };
            drop(shell.stdin.take());
            let _ = shell.wait();
        }

        /// Ends the leader without killing its group.
        pub(super) fn release(&mut self) {
            let Some(mut shell) = self.0.take() else { return };
            if let Some(mut pipe) = shell.stdin.take() {
                let _ = pipe.write_all(b"\n");
            }
            let _ = shell.wait();
        }
    }

    impl Drop for ProcessGroup {
        fn drop(&mut self) {
            self.kill();
        }
    }
}

#[cfg(not(unix))]
mod process_group {
    use std::process::Command;

    /// Stands in where there are no process groups: only the process itself is killed.
    pub(in crate::supervisor) struct ProcessGroup;

    impl ProcessGroup {
        pub(super) fn start() -> Self {
            Self
        }

        pub(super) fn join(&self, _: &mut Command) {}

        pub(super) fn kill(&mut self) {}

        pub(super) fn release(&mut self) {}
    }
}

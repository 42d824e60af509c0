//! Who ends a reviewer that nobody waits for any more.
//!
//! A program may start others, and referee itself may be stopped by Ctrl-C or killed: then nobody is left to end them.
//! So a small shell leads the process group that they run in, and reads from a pipe of which referee holds the other
//! end. A line means that all went well. The end of the pipe, however it came, means that the group ends at once.

use std::process::Command;

#[cfg(not(unix))]
pub(super) use other::Guard;
#[cfg(unix)]
pub(super) use unix::ProcessGroupGuard;

#[cfg(unix)]
mod unix {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Stdio};

    use super::Command;

    /// The shell; none where the machine has none, and a program is then ended alone.
    pub(in crate::command) struct ProcessGroupGuard(Option<Child>);

    const WAIT_SCRIPT: &str = "read -r well || kill -s KILL 0";

    impl ProcessGroupGuard {
        /// Starts it, in a process group of its own.
        pub(in crate::command) fn start() -> Self {
            let mut shell = Command::new("sh");
            shell.args(["-c", WAIT_SCRIPT]).process_group(0);
            Self(shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok())
        }

        /// What is started with this ends with the group.
        pub(in crate::command) fn join_group(&self, command: &mut Command) {
            let group = self.0.as_ref().and_then(|shell| i32::try_from(shell.id()).ok());
            command.process_group(group.unwrap_or(0));
        }

        /// All of the group ends.
        pub(in crate::command) fn kill_group(&mut self) {
            let Some(mut shell) = self.0.take() else { return };
            drop(shell.stdin.take());
            // It ends with its group; whether by its own hand or another's is all the same.
            let _ = shell.wait();
        }

        /// The program ended well: what it left running on purpose may stay.
        pub(in crate::command) fn release(&mut self) {
            let Some(mut shell) = self.0.take() else { return };
            if let Some(mut pipe) = shell.stdin.take() {
                let _ = pipe.write_all(b"\n");
            }
            let _ = shell.wait();
        }
    }

    impl Drop for ProcessGroupGuard {
        fn drop(&mut self) {
            self.kill_group();
        }
    }
}

#[cfg(not(unix))]
mod other {
    use super::ReviewCommand;

    /// There are no process groups here: a program is ended alone.
    pub(in crate::command) struct Guard;

    impl ProcessGroupGuard {
        pub(in crate::command) fn start() -> Self {
            Self
        }

        pub(in crate::command) fn watch_over(&self, _: &mut Command) {}

        pub(in crate::command) fn end_all(&mut self) {}

        pub(in crate::command) fn dismiss(&mut self) {}
    }
}

//! Probes in a sandboxed run of their own, judged from outside: how much is logged, and whether everything ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::ProbeResult;
use super::testbed::ProbeTestbed;
use crate::helper_process::HelperRequest;
use crate::manual_run::RunRequest;
use crate::{Sandbox, SandboxExit};

/// The deadline of runs that are to be killed at it.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// A process still alive after this time counts as escaped.
const ESCAPE_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a pipe for writing. It has a writer as long as the script or one of its descendants lives.
const HOLD_PIPE_SCRIPT: &str = "exec 9>\"$REFEREE_JOB/pipe\"; echo here >&9; ";

const PRINTED_BYTES: u64 = 2_000_000;

pub(super) fn output(testbed: &ProbeTestbed) -> ProbeResult {
    let sandbox = testbed.sandbox();
    let mut last = None;
    let argv = ["head".to_owned(), "-c".to_owned(), PRINTED_BYTES.to_string(), "/dev/zero".to_owned()];
    sandbox.run(&argv, "", &mut |progress| last = Some(progress)).map_err(|error| error.to_string())?;
    let logged = fs::metadata(&sandbox.log_path).map_or(0, |metadata| metadata.len());
    let all_read = last.is_some_and(|progress| progress.truncated && progress.output_bytes == PRINTED_BYTES);
    // The note that the log is full comes on top of the limit.
    if all_read && logged < sandbox.limits.log_bytes + 200 {
        Ok(format!("{logged} of {PRINTED_BYTES} bytes were logged"))
    } else {
        Err(format!("{logged} bytes were logged"))
    }
}

pub(super) fn deadline(testbed: &ProbeTestbed) -> ProbeResult {
    expect_all_killed(testbed, "sleep 600", SandboxExit::TimedOut)
}

pub(super) fn deaf(testbed: &ProbeTestbed) -> ProbeResult {
    expect_all_killed(testbed, "trap '' HUP INT QUIT TERM TSTP; while :; do sleep 600; done", SandboxExit::TimedOut)
}

pub(super) fn background(testbed: &ProbeTestbed) -> ProbeResult {
    expect_all_killed(testbed, "sleep 600 & exit 0", SandboxExit::Exited(0))
}

pub(super) fn session(testbed: &ProbeTestbed) -> ProbeResult {
    expect_all_killed(testbed, "setsid sleep 600 & exit 0", SandboxExit::Exited(0))
}

pub(super) fn twice_forked(testbed: &ProbeTestbed) -> ProbeResult {
    let script = "(setsid sh -c '(trap \"\" HUP; setsid sleep 600 &)' &); exit 0";
    expect_all_killed(testbed, script, SandboxExit::Exited(0))
}

/// Runs a script to its end, and checks that no process holds the pipe afterwards.
fn expect_all_killed(testbed: &ProbeTestbed, script: &str, expected: SandboxExit) -> ProbeResult {
    let path = create_pipe(testbed).map_err(not_tried)?;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut pipe = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(not_tried)?;
    let mut sandbox: Sandbox = testbed.sandbox();
    if expected == SandboxExit::TimedOut {
        sandbox.timeout = SHORT_TIMEOUT;
    }
    let argv = ["sh".to_owned(), "-c".to_owned(), format!("{HOLD_PIPE_SCRIPT}{script}")];
    let exit = sandbox.run(&argv, "", &mut |_| {}).map_err(|error| error.to_string())?;
    let mut text = String::new();
    match pipe.read_to_string(&mut text) {
        Ok(_) if exit == expected && text == "here\n" => Ok("it was killed".to_owned()),
        Ok(_) => Err(format!("the run ended as {exit:?}, after it wrote `{}`", text.escape_default())),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err("it is still alive".to_owned()),
        Err(error) => Err(not_tried(error)),
    }
}

pub(super) fn referee_killed(testbed: &ProbeTestbed) -> ProbeResult {
    let path = create_pipe(testbed).map_err(not_tried)?;
    let (sender, events) = mpsc::channel();
    thread::spawn(move || {
        // The first event: the script runs. The second: no process holds the pipe, or it cannot be read.
        let _ = File::open(path).and_then(|mut pipe| {
            pipe.read_exact(&mut [0; 5])?;
            let _ = sender.send(());
            pipe.read_to_end(&mut Vec::new())
        });
        let _ = sender.send(());
    });
    let request = HelperRequest::Run(RunRequest {
        limits: testbed.sandbox().limits,
        ..RunRequest::new(testbed.tier, testbed.path(""))
    });
    let mut referee = Command::new(std::env::current_exe().map_err(not_tried)?);
    referee.args(request.to_arguments().map_err(not_tried)?);
    referee.args(["sh", "-c", &format!("{HOLD_PIPE_SCRIPT}setsid sleep 600 & sleep 600")]);
    let mut referee =
        referee.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(not_tried)?;
    let started = events.recv_timeout(ESCAPE_TIMEOUT);
    referee.kill().and_then(|()| referee.wait()).map_err(not_tried)?;
    match (started, events.recv_timeout(ESCAPE_TIMEOUT)) {
        (Ok(()), Ok(())) => Ok("it was killed too".to_owned()),
        (Ok(()), Err(_)) => Err("it is still alive".to_owned()),
        (Err(_), _) => Err("not tried: the program did not start".to_owned()),
    }
}

fn create_pipe(testbed: &ProbeTestbed) -> io::Result<PathBuf> {
    let path = testbed.path("job/pipe");
    let _ = fs::remove_file(&path);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(path)
}

fn not_tried(error: io::Error) -> String {
    format!("not tried: {error}")
}

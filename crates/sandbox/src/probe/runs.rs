//! Probes with a run of their own: how it prints, and how it ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::ProbeResult;
use super::testbed::ProbeTestbed;
use crate::{Sandbox, SandboxExit};

/// How long those run that are to be ended.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Whoever lives on for so long lives on.
const ESCAPE_TIMEOUT: Duration = Duration::from_secs(30);

/// What each of them does first: as long as it or a child of it lives, the pipe has a writer.
const HOLD_PIPE_SCRIPT: &str = "exec 9>\"$REFEREE_JOB/pipe\"; echo here >&9; ";

pub(super) fn output(stand: &ProbeTestbed) -> ProbeResult {
    let sandbox = stand.sandbox();
    let mut last = None;
    let argv = ["head", "-c", "2000000", "/dev/zero"].map(str::to_owned);
    sandbox.run(&argv, "", &mut |beat| last = Some(beat)).map_err(|error| error.to_string())?;
    let kept = fs::metadata(&sandbox.log_path).map_or(0, |it| it.len());
    match last {
        Some(beat) if beat.truncated && beat.output_bytes == 2_000_000 && kept < sandbox.limits.log_bytes + 200 => {
            Ok(format!("{kept} of {} bytes are kept", beat.output_bytes))
        }
        _ => Err(format!("{kept} bytes are kept")),
    }
}

pub(super) fn deadline(stand: &ProbeTestbed) -> ProbeResult {
    expect_all_ended(stand, "sleep 600", SandboxExit::TimedOut)
}

pub(super) fn deaf(stand: &ProbeTestbed) -> ProbeResult {
    expect_all_ended(stand, "trap '' HUP INT QUIT TERM TSTP; while :; do sleep 600; done", SandboxExit::TimedOut)
}

pub(super) fn background(stand: &ProbeTestbed) -> ProbeResult {
    expect_all_ended(stand, "sleep 600 & exit 0", SandboxExit::Exited(0))
}

pub(super) fn session(stand: &ProbeTestbed) -> ProbeResult {
    expect_all_ended(stand, "setsid sleep 600 & exit 0", SandboxExit::Exited(0))
}

pub(super) fn twice_forked(stand: &ProbeTestbed) -> ProbeResult {
    expect_all_ended(stand, "(setsid sh -c '(trap \"\" HUP; setsid sleep 600 &)' &); exit 0", SandboxExit::Exited(0))
}

/// Runs it to its end, and looks whether somebody still holds the pipe.
fn expect_all_ended(stand: &ProbeTestbed, script: &str, want: SandboxExit) -> ProbeResult {
    let unable = |error: io::Error| format!("it could not be tried: {error}");
    let path = create_pipe(stand).map_err(unable)?;
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut pipe = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unable)?;
    let sandbox = stand.sandbox();
    let deadline = if want == SandboxExit::TimedOut { SHORT_TIMEOUT } else { sandbox.timeout };
    let argv = ["sh".to_owned(), "-c".to_owned(), format!("{HOLD_PIPE_SCRIPT}{script}")];
    let ended =
        Sandbox { timeout: deadline, ..sandbox }.run(&argv, "", &mut |_| {}).map_err(|error| error.to_string())?;
    let mut text = String::new();
    match pipe.read_to_string(&mut text) {
        Ok(_) if ended == want && text == "here\n" => Ok("it was ended".to_owned()),
        Ok(_) => Err(format!("{ended:?}, having said `{}`", text.escape_default())),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Err("it lives on".to_owned()),
        Err(error) => Err(unable(error)),
    }
}

pub(super) fn referee_killed(stand: &ProbeTestbed) -> ProbeResult {
    let unable = |error: io::Error| format!("it could not be tried: {error}");
    let path = create_pipe(stand).map_err(unable)?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        // Whatever ends the reading ends it: then nobody writes there any more.
        let _ = File::open(path).and_then(|mut pipe| {
            pipe.read_exact(&mut [0; 5])?;
            let _ = tell.send(());
            pipe.read_to_end(&mut Vec::new())
        });
        let _ = tell.send(());
    });
    let own = std::env::current_exe().map_err(unable)?;
    let sandbox = stand.sandbox();
    let mut referee = Command::new(own);
    referee.args([
        "sandbox",
        "run",
        "--tier",
        &(stand.tier as u8).to_string(),
        "--limits",
        &sandbox.limits.to_string(),
    ]);
    referee.arg("--folder").arg(stand.path("")).args([
        "--",
        "sh",
        "-c",
        &format!("{HOLD_PIPE_SCRIPT}setsid sleep 600 & sleep 600"),
    ]);
    let mut referee =
        referee.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(unable)?;
    let started = told.recv_timeout(ESCAPE_TIMEOUT);
    referee.kill().and_then(|()| referee.wait()).map_err(unable)?;
    match (started, told.recv_timeout(ESCAPE_TIMEOUT)) {
        (Ok(()), Ok(())) => Ok("it ended too".to_owned()),
        (Ok(()), Err(_)) => Err("it lives on".to_owned()),
        (Err(_), _) => Err("it could not be tried: it did not start".to_owned()),
    }
}

fn create_pipe(stand: &ProbeTestbed) -> io::Result<std::path::PathBuf> {
    let path = stand.path("job/pipe");
    let _ = fs::remove_file(&path);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(path)
}

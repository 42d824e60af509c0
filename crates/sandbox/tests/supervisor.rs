//! The supervisor with real processes.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use referee_sandbox::supervisor::{ExitCause, OutputTarget, Supervisor};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str, dir: &Path, timeout: Duration) -> Supervisor {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(dir);
    Supervisor::new(command, timeout)
        .stdout(OutputTarget::Capture { max_bytes: 1000 })
        .stderr(OutputTarget::Tail { max_bytes: 8 })
}

/// Returns whether the process whose pid is in a file still runs. A zombie does not.
fn is_alive(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).expect("a pid");
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

/// A killed process takes a moment to die. This never returns if no signal was sent.
fn wait_until_dead(pid_file: &Path) {
    while is_alive(pid_file) {
        std::thread::yield_now();
    }
}

#[test]
fn input_output_and_exit_code_are_passed_through() {
    let dir = TempDir::new().expect("a folder");
    let process = shell("cat; echo 1234567890 >&2; exit 3", dir.path(), LONG).input(b"hello".to_vec());
    let exit = process.run(&mut || {}).expect("it runs");
    assert_eq!((exit.cause, exit.stdout.as_slice(), exit.output_complete), (ExitCause::Code(3), &b"hello"[..], true));
    assert_eq!(exit.stderr, b"4567890\n", "the tail of stderr");
}

#[test]
fn a_signal_is_reported() {
    let dir = TempDir::new().expect("a folder");
    let exit = shell("kill -TERM $$", dir.path(), LONG).run(&mut || {}).expect("it runs");
    assert_eq!(exit.cause, ExitCause::Signal(15));
}

#[test]
fn the_deadline_kills_descendants_and_the_heart_beats_until_then() {
    let dir = TempDir::new().expect("a folder");
    let mut beats = 0;
    let process = shell("sleep 600 & echo $! > child; sleep 600", dir.path(), Duration::from_millis(2500));
    let exit = process.run(&mut || beats += 1).expect("it runs");
    assert_eq!(exit.cause, ExitCause::Timeout);
    assert!(beats >= 1, "{beats}");
    wait_until_dead(&dir.path().join("child"));
}

#[test]
fn too_much_output_kills_the_process() {
    let dir = TempDir::new().expect("a folder");
    let exit = shell("cat /dev/zero", dir.path(), LONG).run(&mut || {}).expect("it runs");
    assert_eq!((exit.cause, exit.output_complete), (ExitCause::OutputLimit, false));
}

#[test]
fn a_descendant_that_closed_its_output_may_live_and_one_that_holds_it_is_killed() {
    let dir = TempDir::new().expect("a folder");
    let child = dir.path().join("child");
    let released = shell("sleep 600 >/dev/null 2>&1 & echo $! > child; echo done", dir.path(), LONG);
    let exit = released.run(&mut || {}).expect("it runs");
    assert_eq!((exit.cause, exit.output_complete), (ExitCause::Code(0), true));
    assert!(is_alive(&child));
    let pid = fs::read_to_string(&child).expect("a pid");
    assert!(Command::new("kill").args(["-KILL", pid.trim()]).status().expect("kill runs").success());
    let holding = shell("sleep 600 & echo $! > child; echo done", dir.path(), LONG);
    let exit = holding.run(&mut || {}).expect("it runs");
    assert_eq!((exit.cause, exit.stdout.as_slice()), (ExitCause::Code(0), &b"done\n"[..]));
    assert!(!exit.output_complete);
    wait_until_dead(&child);
}

#[test]
fn no_descendant_outlives_a_process_that_must_end_all_of_them() {
    let dir = TempDir::new().expect("a folder");
    let names = ["quiet", "session"];
    let start = "sleep 600 >/dev/null 2>&1 & echo $! > quiet; \
                 setsid sh -c 'echo $$ > session; exec sleep 600' >/dev/null 2>&1 & \
                 while ! test -s session; do :; done; echo done";
    let exit = shell(start, dir.path(), LONG).end_descendants().run(&mut || {}).expect("it runs");
    assert_eq!((exit.cause, exit.output_complete), (ExitCause::Code(0), true));
    names.iter().for_each(|name| wait_until_dead(&dir.path().join(name)));
    names.iter().for_each(|name| fs::remove_file(dir.path().join(name)).expect("a file"));
    let hanging = format!("{start}; sleep 600");
    let exit = shell(&hanging, dir.path(), Duration::from_secs(2)).end_descendants().run(&mut || {}).expect("it runs");
    assert_eq!(exit.cause, ExitCause::Timeout);
    names.iter().for_each(|name| wait_until_dead(&dir.path().join(name)));
}

#[test]
fn output_can_go_to_a_callback_or_straight_to_a_stream() {
    let dir = TempDir::new().expect("a folder");
    let (sender, chunks) = std::sync::mpsc::channel();
    let process = shell("echo out; echo err >&2", dir.path(), LONG)
        .stdout(OutputTarget::Callback(Box::new(move |chunk| sender.send(chunk.to_vec()).expect("the test waits"))))
        .stderr(OutputTarget::Stdio(Stdio::null()));
    let exit = process.run(&mut || {}).expect("it runs");
    assert!(exit.stdout.is_empty() && exit.stderr.is_empty() && exit.output_complete);
    assert_eq!(chunks.into_iter().flatten().collect::<Vec<u8>>(), b"out\n");
}

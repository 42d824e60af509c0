//! A program in the sandbox ends, and so does everything it started.

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::sandbox_run::{SandboxRun, TIERS};

/// A process still alive after this time counts as escaped.
const ESCAPE_TIMEOUT: Duration = Duration::from_secs(60);

/// Ways to outlive one's parent. Each process holds the pipe open as long as it lives.
const ESCAPES: &[&str] = &[
    "sleep 600 &",
    "setsid sleep 600 &",
    "nohup sleep 600 >/dev/null 2>&1 &",
    "(setsid sh -c '(setsid sleep 600 &)' &)",
    "trap '' HUP INT TERM; (trap '' HUP INT TERM; setsid sleep 600) &",
];

/// Creates a pipe in the job folder. The receiver gets its text once no process holds it open for writing.
fn watch_pipe(run: &SandboxRun) -> mpsc::Receiver<String> {
    std::fs::create_dir_all(run.path("job")).expect("a folder");
    let path = run.path("job/pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        File::open(path).and_then(|mut pipe| pipe.read_to_string(&mut text)).expect("the pipe");
        sender.send(text).expect("the test waits");
    });
    receiver
}

#[test]
fn descendants_are_killed_when_the_program_exits() {
    for tier in TIERS {
        for escape in ESCAPES {
            let run = SandboxRun::new(tier);
            let pipe = watch_pipe(&run);
            let finished = run.run(&format!("exec 9>$REFEREE_JOB/pipe; echo here >&9; {escape}\nexit 3"));
            assert_eq!(finished.report["ended"], 3, "{tier} {escape}: {finished:?}");
            let text = pipe.recv_timeout(ESCAPE_TIMEOUT).unwrap_or_else(|_| panic!("tier {tier}: `{escape}` escaped"));
            assert_eq!(text, "here\n");
        }
    }
}

#[test]
fn descendants_are_killed_at_the_deadline() {
    for tier in TIERS {
        for escape in ESCAPES {
            let run = SandboxRun::new(tier).with("timeout_ms", 500);
            let pipe = watch_pipe(&run);
            let finished = run.run(&format!("exec 9>$REFEREE_JOB/pipe; echo here >&9; {escape}\nsleep 600"));
            assert_eq!(finished.report["ended"], "timed out", "{tier} {escape}: {finished:?}");
            let text = pipe.recv_timeout(ESCAPE_TIMEOUT).unwrap_or_else(|_| panic!("tier {tier}: `{escape}` escaped"));
            assert_eq!(text, "here\n");
        }
    }
}

#[test]
fn the_program_does_not_outlive_referee() {
    for tier in TIERS {
        let run = SandboxRun::new(tier);
        let pipe = watch_pipe(&run);
        let started = run.path("job/started");
        assert!(Command::new("mkfifo").arg(&started).status().expect("mkfifo").success());
        let script = "exec 9>$REFEREE_JOB/pipe; setsid sleep 600 & echo >$REFEREE_JOB/started; sleep 600";
        let mut referee = run.command(script).spawn().expect("referee runs");
        File::open(&started).and_then(|mut started| started.read_to_end(&mut Vec::new())).expect("the pipe");
        referee.kill().expect("it can be killed");
        referee.wait().expect("it ended");
        pipe.recv_timeout(ESCAPE_TIMEOUT).unwrap_or_else(|_| panic!("tier {tier}: it escaped"));
    }
}

#[test]
fn a_fork_bomb_is_stopped_by_the_limit_and_killed_at_the_deadline() {
    for tier in [1, 2] {
        // As many processes as possible, each in its own session, and each forks for ever. The limit suits any machine.
        let limits = json!({
            "processes": 40, "memory_bytes": 256 << 20, "file_bytes": 1 << 20, "open_files": 64, "log_bytes": 65536,
        });
        let run = SandboxRun::new(tier).with("timeout_ms", 3000).with("limits", limits);
        let pipe = watch_pipe(&run);
        let bomb = "exec 9>$REFEREE_JOB/pipe; echo here >&9; echo 'setsid sh $0 & sh $0 & wait; sleep 600' >bomb; sh bomb; sleep 600";
        let finished = run.run(bomb);
        assert_eq!(finished.report["ended"], "timed out", "{tier}: {finished:?}");
        assert!(finished.log.to_lowercase().contains("fork"), "tier {tier}: nothing was refused: {finished:?}");
        pipe.recv_timeout(ESCAPE_TIMEOUT).unwrap_or_else(|_| panic!("tier {tier}: it escaped"));
    }
}

#[test]
fn output_is_logged_up_to_the_limit_and_never_blocks_the_program() {
    for tier in TIERS {
        let limits = json!({ "memory_bytes": 256 << 20, "file_bytes": 1 << 20, "open_files": 64, "log_bytes": 1000 });
        let run = SandboxRun::new(tier).with("limits", limits);
        let finished = run.run("echo first; echo second >&2; head -c 3000000 /dev/zero; exit 4");
        let report = &finished.report;
        assert_eq!((&report["ended"], &report["truncated"]), (&4.into(), &true.into()), "{report:?}");
        assert_eq!(report["output_bytes"], 3_000_013, "{report:?}");
        assert!(finished.log.starts_with("first\nsecond\n"), "stdout and stderr, in order");
        assert!(finished.log.ends_with("\nsandbox: the log is full: output after the first 1000 bytes is dropped\n"));
        assert!(finished.log.len() < 1100, "{}", finished.log.len());
    }
}

#[test]
fn the_exit_and_the_prompt_are_passed_through() {
    for tier in TIERS {
        assert_eq!(SandboxRun::new(tier).run("exit 0").report["ended"], 0);
        assert_eq!(SandboxRun::new(tier).run("exit 42").report["ended"], 42);
        assert_eq!(SandboxRun::new(tier).run("kill -9 $$").report["ended"], "signalled", "tier {tier}");
        let prompt = "read me\n".repeat(12_500);
        let read = SandboxRun::new(tier).with("prompt", prompt.as_str()).run("wc -c");
        assert_eq!(read.log.trim(), "100000", "tier {tier}");
        let unread = SandboxRun::new(tier).with("prompt", prompt).run("exit 5");
        assert_eq!(unread.report["ended"], 5, "a program need not read its prompt");
    }
}

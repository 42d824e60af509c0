//! A worker ends, and so does all that came of it.

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use crate::room::{Room, TIERS};

/// Longer than anything here takes; whoever waits this long waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ways to get out of sight of one's parent. Each holds the pipe open as long as it lives.
const ESCAPES: &[&str] = &[
    "sleep 600 &",
    "setsid sleep 600 &",
    "nohup sleep 600 >/dev/null 2>&1 &",
    "(setsid sh -c '(setsid sleep 600 &)' &)",
    "trap '' HUP INT TERM; (trap '' HUP INT TERM; setsid sleep 600) &",
];

/// A pipe in the job folder, and the news that nobody holds its other end any more.
fn pipe(room: &Room) -> mpsc::Receiver<String> {
    std::fs::create_dir_all(room.path("job")).expect("a folder");
    let path = room.path("job/pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        File::open(path).and_then(|mut pipe| pipe.read_to_string(&mut text)).expect("the pipe");
        tell.send(text).expect("somebody waits");
    });
    told
}

#[test]
fn whoever_left_its_parent_ends_with_it() {
    for tier in TIERS {
        for escape in ESCAPES {
            let room = Room::new(tier);
            let held = pipe(&room);
            let ran = room.run(&format!("exec 9>$REFEREE_JOB/pipe; echo here >&9; {escape}\nexit 3"));
            assert_eq!(ran.told["ended"], 3, "{tier} {escape}: {ran:?}");
            let text = held.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("tier {tier}: `{escape}` lives on"));
            assert_eq!(text, "here\n");
        }
    }
}

#[test]
fn at_the_deadline_all_is_over() {
    for tier in TIERS {
        for escape in ESCAPES {
            let room = Room::new(tier).with(&["--deadline", "500"]);
            let held = pipe(&room);
            let ran = room.run(&format!("exec 9>$REFEREE_JOB/pipe; echo here >&9; {escape}\nsleep 600"));
            assert_eq!(ran.told["ended"], "timed out", "{tier} {escape}: {ran:?}");
            let text = held.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("tier {tier}: `{escape}` lives on"));
            assert_eq!(text, "here\n");
        }
    }
}

#[test]
fn a_worker_does_not_outlive_referee() {
    for tier in TIERS {
        let room = Room::new(tier);
        let held = pipe(&room);
        let started = room.path("job/started");
        assert!(Command::new("mkfifo").arg(&started).status().expect("mkfifo").success());
        let script = "exec 9>$REFEREE_JOB/pipe; setsid sleep 600 & echo >$REFEREE_JOB/started; sleep 600";
        let mut referee = room.command(script).spawn().expect("referee runs");
        File::open(&started).and_then(|mut it| it.read_to_end(&mut Vec::new())).expect("the pipe");
        referee.kill().expect("it can be killed");
        referee.wait().expect("it ended");
        held.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("tier {tier}: it lives on"));
    }
}

#[test]
fn a_fork_bomb_ends_at_its_limit_and_at_the_deadline() {
    for tier in ["1", "2"] {
        // As many as it can, each in a session of its own, and each tries for ever; few enough for any machine.
        let room = Room::new(tier).with(&["--deadline", "3000", "--limits", "40:268435456:1048576:64:65536"]);
        let held = pipe(&room);
        let bomb = "exec 9>$REFEREE_JOB/pipe; echo here >&9; echo 'setsid sh $0 & sh $0 & wait; sleep 600' >bomb; sh bomb; sleep 600";
        let ran = room.run(bomb);
        assert_eq!(ran.told["ended"], "timed out", "{tier}: {ran:?}");
        assert!(ran.log.to_lowercase().contains("fork"), "tier {tier}: nothing was refused: {ran:?}");
        held.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("tier {tier}: it lives on"));
    }
}

#[test]
fn prints_are_kept_up_to_a_size_and_never_waited_for() {
    for tier in TIERS {
        let room = Room::new(tier).with(&["--limits", "4096:268435456:1048576:64:1000"]);
        let ran = room.run("echo first; echo second >&2; head -c 3000000 /dev/zero; exit 4");
        assert_eq!((&ran.told["ended"], &ran.told["cut"]), (&4.into(), &true.into()), "{:?}", ran.told);
        assert_eq!(ran.told["printed"], 3_000_013, "{:?}", ran.told);
        assert!(ran.log.starts_with("first\nsecond\n"), "both ways of printing, in order");
        assert!(ran.log.ends_with("\nsandbox: more was printed than the 1000 bytes that are kept\n"));
        assert!(ran.log.len() < 1100, "{}", ran.log.len());
    }
}

#[test]
fn the_end_is_told_as_it_was() {
    for tier in TIERS {
        assert_eq!(Room::new(tier).run("exit 0").told["ended"], 0);
        assert_eq!(Room::new(tier).run("exit 42").told["ended"], 42);
        assert_eq!(Room::new(tier).run("kill -9 $$").told["ended"], "signalled", "tier {tier}");
        let prompt = "read me\n".repeat(40_000);
        let ran = Room::new(tier).with(&["--prompt", &prompt[..100_000]]).run("wc -c");
        assert_eq!(ran.log.trim(), "100000", "tier {tier}");
        let unread = Room::new(tier).with(&["--prompt", &prompt[..100_000]]).run("exit 5");
        assert_eq!(unread.told["ended"], 5, "a worker need not read what it is told");
    }
}

//! What a worker finds around itself.

use std::collections::BTreeSet;
use std::fs;

use crate::room::{Room, TIERS};

#[test]
fn its_environment_is_not_referees() {
    for tier in TIERS {
        let room = Room::new(tier).with(&["--env", "MODEL_KEY", "--env", "HOME", "--env", "NOT_SET"]);
        let mut command = room.command("env; tr '\\0' '\\n' </proc/$PPID/environ");
        command
            .env("REFEREE_TOKEN", "hidden-1")
            .env("SSH_AUTH_SOCK", "/hidden-2")
            .env("HTTPS_PROXY", "http://hidden-3");
        command.env("LD_PRELOAD_X", "hidden-4").env("GIT_DIR", "hidden-5").env("MODEL_KEY", "given");
        let ran = room.ran(&command.output().expect("referee runs"));
        assert!(!ran.log.contains("hidden"), "tier {tier}: {}", ran.log);
        assert!(ran.log.contains("MODEL_KEY=given\n"), "tier {tier}: {}", ran.log);
        let names: BTreeSet<&str> = ran.log.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        let want = "CI GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT HOME LANG MODEL_KEY PATH PWD REFEREE_JOB TMPDIR TZ";
        assert_eq!(names.into_iter().collect::<Vec<_>>().join(" "), want, "tier {tier}");
        let home = format!("HOME={}\n", room.path("home").display());
        assert_eq!(ran.log.contains(&home), tier != "0", "tier {tier}: {}", ran.log);
    }
}

#[test]
fn in_tier_2_it_sees_its_own_and_the_systems_programs() {
    let room = Room::new("2");
    let secret = room.path("secret");
    fs::write(&secret, "outside").expect("a file");
    let ran = room.run(&format!(
        "cat {secret} 2>/dev/null; ls -A /home /root /var /srv /mnt /sys 2>/dev/null; id -u; \
         echo a >here && echo b >$HOME/b && echo c >$REFEREE_JOB/c && echo d >$TMPDIR/d && git --version >/dev/null && echo fine; \
         for place in / /etc /usr /run /dev /proc/sys/kernel; do {{ echo x >$place/x; }} 2>/dev/null && echo wrote $place; done; \
         (: >>/proc/sys/kernel/core_pattern) 2>/dev/null && echo opened; \
         (: >>/proc/sysrq-trigger) 2>/dev/null && echo opened; true",
        secret = secret.display()
    ));
    // The folders of a `PATH` in somebody's home are there, and empty around them.
    assert!(!ran.log.contains("outside") && !ran.log.contains("opened") && !ran.log.contains("wrote"), "{}", ran.log);
    assert!(ran.log.ends_with("1000\nfine\n"), "{}", ran.log);
    assert_eq!(fs::read_to_string(room.path("work/here")).expect("its work is kept"), "a\n");
    assert!(!std::path::Path::new("/tmp/d").exists(), "its temporary folder is its own");
}

/// By their numbers, in the one language that every Debian has and that can.
#[cfg(target_arch = "x86_64")]
#[test]
fn in_tier_2_no_call_reads_a_key() {
    let script = "perl -e 'printf \"%d %d %d\\n\", syscall(250, 0, -3, 0) > 0, syscall(250, 0, -4, 0) > 0, $!{EPERM} > 0; \
                  print syscall(39) > 0'";
    assert_eq!(Room::new("1").run(script).log.split(' ').next(), Some("1"), "below, the session's keyring is found");
    assert_eq!(Room::new("2").run(script).log, "0 0 1\n1");
}

#[test]
fn what_its_entry_names_is_readable() {
    let room = Room::new("2").with(&["--env", "RULES"]);
    let rules = room.path("rules");
    fs::create_dir(&rules).expect("a folder");
    fs::write(rules.join("text"), "to read\n").expect("a file");
    let mut command = room.command("cat $RULES/text; { echo x >$RULES/y; } 2>/dev/null || echo read only");
    let ran = room.ran(&command.env("RULES", &rules).output().expect("referee runs"));
    assert_eq!(ran.log, "to read\nread only\n");
}

#[test]
fn what_cannot_run_is_refused_with_what_to_do() {
    let refused = |room: &Room, path: Option<&str>| {
        let mut command = room.command("true");
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let output = command.output().expect("referee runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let empty = tempfile::TempDir::new().expect("a folder");
    let (code, words) = refused(&Room::new("2"), empty.path().to_str());
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("`bwrap` is not on the PATH") && words.contains("hint: install `bubblewrap`"), "{words}");
    let (code, words) = refused(&Room::new("2").with(&["--egress", "*"]), None);
    assert!(code == Some(2) && words.contains("hint: "), "{words}");
    let (code, words) = refused(&Room::new("1"), empty.path().to_str());
    assert!(code == Some(2) && words.contains("`sh` is not on the PATH"), "{words}");
}

//! What a program in the sandbox sees of its environment and of the machine.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use crate::sandbox_run::{SandboxRun, TIERS};

#[test]
fn the_environment_of_referee_is_not_inherited() {
    for tier in TIERS {
        let run = SandboxRun::new(tier).with("env", json!(["MODEL_KEY", "HOME", "NOT_SET"]));
        let mut command = run.command("env; tr '\\0' '\\n' </proc/$PPID/environ");
        command
            .env("REFEREE_TOKEN", "hidden-1")
            .env("SSH_AUTH_SOCK", "/hidden-2")
            .env("HTTPS_PROXY", "http://hidden-3");
        command.env("LD_PRELOAD_X", "hidden-4").env("GIT_DIR", "hidden-5").env("MODEL_KEY", "given");
        let finished = run.finish(&command.output().expect("referee runs"));
        assert!(!finished.log.contains("hidden"), "tier {tier}: {}", finished.log);
        assert!(finished.log.contains("MODEL_KEY=given\n"), "tier {tier}: {}", finished.log);
        let names: BTreeSet<&str> = finished.log.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        let want = "CI GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT HOME LANG MODEL_KEY PATH PWD REFEREE_JOB TMPDIR TZ";
        assert_eq!(names.into_iter().collect::<Vec<_>>().join(" "), want, "tier {tier}");
        let home = format!("HOME={}\n", run.path("home").display());
        assert_eq!(finished.log.contains(&home), tier != 0, "tier {tier}: {}", finished.log);
    }
}

#[test]
fn tier_2_shows_only_its_folders_and_the_systems_programs() {
    let run = SandboxRun::new(2);
    let secret = run.path("secret");
    fs::write(&secret, "outside").expect("a file");
    let finished = run.run(&format!(
        "cat {secret} 2>/dev/null; ls -A /home /root /var /srv /mnt /sys 2>/dev/null; id -u; \
         echo a >here && echo b >$HOME/b && echo c >$REFEREE_JOB/c && echo d >$TMPDIR/d && git --version >/dev/null && echo fine; \
         for place in / /etc /usr /run /dev /proc/sys/kernel; do {{ echo x >$place/x; }} 2>/dev/null && echo wrote $place; done; \
         (: >>/proc/sys/kernel/core_pattern) 2>/dev/null && echo opened; \
         (: >>/proc/sysrq-trigger) 2>/dev/null && echo opened; true",
        secret = secret.display()
    ));
    // Folders of the `PATH` in a home are visible, so that the listing may name them.
    assert!(
        !finished.log.contains("outside") && !finished.log.contains("opened") && !finished.log.contains("wrote"),
        "{}",
        finished.log
    );
    assert!(finished.log.ends_with("1000\nfine\n"), "{}", finished.log);
    assert_eq!(fs::read_to_string(run.path("work/here")).expect("the work copy is kept"), "a\n");
    assert!(!std::path::Path::new("/tmp/d").exists(), "`/tmp` is private");
}

/// Makes the system calls by number, in Perl: every Debian has it.
#[cfg(target_arch = "x86_64")]
#[test]
fn tier_2_refuses_the_system_calls_for_keys() {
    let script = "perl -e 'printf \"%d %d %d\\n\", syscall(250, 0, -3, 0) > 0, syscall(250, 0, -4, 0) > 0, $!{EPERM} > 0; \
                  print syscall(39) > 0'";
    assert_eq!(SandboxRun::new(1).run(script).log.split(' ').next(), Some("1"), "tier 1 finds the session keyring");
    assert_eq!(SandboxRun::new(2).run(script).log, "0 0 1\n1");
}

#[test]
fn files_named_by_env_are_readable_only() {
    let run = SandboxRun::new(2).with("env", json!(["RULES"]));
    let rules = run.path("rules");
    fs::create_dir(&rules).expect("a folder");
    fs::write(rules.join("text"), "to read\n").expect("a file");
    let mut command = run.command("cat $RULES/text; { echo x >$RULES/y; } 2>/dev/null || echo read only");
    let finished = run.finish(&command.env("RULES", &rules).output().expect("referee runs"));
    assert_eq!(finished.log, "to read\nread only\n");
}

#[test]
fn an_impossible_run_is_refused_with_a_hint() {
    let refused = |run: &SandboxRun, path: Option<&str>| {
        let mut command = run.command("true");
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let output = command.output().expect("referee runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let empty = tempfile::TempDir::new().expect("a folder");
    let (code, stderr) = refused(&SandboxRun::new(2), empty.path().to_str());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("`bwrap` is not on the PATH") && stderr.contains("hint: install `bubblewrap`"), "{stderr}");
    let (code, stderr) = refused(&SandboxRun::new(2).with("egress", json!(["*"])), None);
    assert!(code == Some(2) && stderr.contains("hint: "), "{stderr}");
    let (code, stderr) = refused(&SandboxRun::new(1), empty.path().to_str());
    assert!(code == Some(2) && stderr.contains("`sh` is not on the PATH"), "{stderr}");
}

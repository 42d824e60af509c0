//! A pass that crashes at any request. The next one recovers, and no worker starts twice.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use referee_testkit::proxy::{LoggedRequest, ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;

use super::{OpenedPull, Project, until};
use crate::chance::times;
use crate::on_each_server;
use crate::site::RunOutput;

on_each_server! { after_a_crash_at_any_request_the_next_pass_recovers }

/// How a pass ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The server does that request, and nothing comes through any more.
    Cut(usize),
    /// Its process is killed when the server has done that write.
    Killed(usize),
}

// spec: DSP-1, DSP-16, DSP-17 @gitea @forgejo
fn after_a_crash_at_any_request_the_next_pass_recovers(build: ServerBuild) {
    let project = Project::new(build);
    let proxy = &project.site.proxy;
    let count = times(10, 100);
    let names: Vec<String> = (0..count).flat_map(|at| [format!("ready{at}"), format!("red{at}")]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut branches = names.iter().zip(project.branches(&names));
    let mut pair = || {
        let [ready, red] = [(); 2].map(|()| branches.next().expect("enough branches"));
        let [ready, red] = [ready, red].map(|(name, head)| project.open(name, head));
        project.settle(&ready);
        project.site.at("alice", red.pull).report_check("ci", "failure");
        project.site.forget();
        proxy.forget();
        (ready, red)
    };
    let close = |pulls: [&OpenedPull; 2]| pulls.map(|it| project.site.at("alice", it.pull).close());

    // One that nothing disturbs.
    let (ready, red) = pair();
    assert_eq!(project.lines(&[]), [handoff(&ready), red.spawn("ci-fix")]);
    let log = proxy.log();
    let reads = log.iter().take_while(|seen| seen.is_read()).count();
    let writes: Vec<usize> = log.iter().enumerate().filter(|(_, it)| !it.is_read()).map(|(at, _)| at + 1).collect();
    assert!(writes.len() >= 7, "{log:#?}");
    close([&ready, &red]);

    // S5: until everything is read nothing is said and nothing is written, so the same two do for all.
    let (ready, red) = pair();
    for nth in (1..reads).step_by(times(5, 1)) {
        project.site.forget();
        proxy.forget();
        let ran = ended(&project, End::Cut(nth));
        assert!(ran.code == 75 && ran.out.is_empty(), "{nth} of {reads}: {ran:?}");
        assert_eq!(proxy.write_count(), 0, "{nth} of {reads}: {:#?}", proxy.log());
    }
    proxy.forget();
    assert_eq!(project.lines(&[]), [handoff(&ready), red.spawn("ci-fix")]);
    close([&ready, &red]);

    let later = project.write_project_file("later", "wip_max_age: 1s\n");
    for end in ends(&log, &writes, reads) {
        let (ready, red) = pair();
        let ran = ended(&project, end);
        proxy.forget();
        let mut said: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        said.extend(project.lines(&[]));
        let label = format!("{end:?} of {}: {said:?} {}", log.len(), ran.err);
        let times = |line: &String| said.iter().filter(|it| *it == line).count();
        let (handoffs, spawns) = (times(&handoff(&ready)), times(&red.spawn("ci-fix")));
        assert!(handoffs <= 1 && spawns <= 1 && said.len() == handoffs + spawns, "{label}");
        assert_eq!(project.labels(ready.pull), ["ready"], "{label}");
        assert_eq!(project.site.at("alice", ready.pull).fetch_pull()["assignee"]["login"], "ruth", "{label}");
        if spawns == 0 {
            let lines = until(|| Some(project.lines_for(&later, &[])).filter(|lines| !lines.is_empty()));
            assert_eq!(lines, [red.spawn("ci-fix")], "{label}");
        }
        project.assert_harmless();
        close([&ready, &red]);
    }
}

fn handoff(it: &OpenedPull) -> String {
    format!("HANDOFF:{}", it.pull.0)
}

/// Every request after the first write and every write, in both ways; in a plain run each write in one of them.
fn ends(log: &[LoggedRequest], writes: &[usize], reads: usize) -> Vec<End> {
    if times(0, 1) == 1 {
        let cuts = (reads + 1..=log.len()).map(End::Cut);
        return cuts.chain((1..=writes.len()).map(End::Killed)).collect();
    }
    let each = writes.iter().enumerate();
    each.map(|(at, nth)| if at % 2 == 0 { End::Killed(at + 1) } else { End::Cut(*nth) }).take(8).collect()
}

fn ended(project: &Project, end: End) -> RunOutput {
    match end {
        End::Cut(nth) => {
            project.site.proxy.inject_fault(ProxyFault::DropAfter, RequestMatcher::nth(nth));
            project.site.proxy.inject_fault(ProxyFault::DropBefore, RequestMatcher::nth(nth + 1).and_following());
            project.ran(&[])
        }
        End::Killed(nth) => killed(project, nth),
    }
}

fn killed(project: &Project, nth: usize) -> RunOutput {
    let running: Arc<Mutex<Option<Child>>> = Arc::default();
    let mut begun = running.lock().expect("nobody panics with it");
    let hook = Arc::clone(&running);
    project.site.proxy.after_write(nth, move || {
        let _ = hook.lock().expect("nobody panics with it").as_mut().map(Child::kill);
    });
    let mut command = project.command(&[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let words = child.stdout.take().expect("its words");
    *begun = Some(child);
    drop(begun);
    let out = std::io::read_to_string(words).expect("words");
    let ended = running.lock().expect("nobody panics with it").as_mut().expect("a process").wait().expect("it ended");
    RunOutput { code: ended.code().unwrap_or(-1), out, err: String::new() }
}

//! `kill -9` at any moment of a run. The next run completes the pull as if nothing had happened.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use referee_core::model::PullNumber;
use referee_testkit::server::ServerBuild;

use crate::chance::{Dice, times};
use crate::on_each_server;
use crate::site::TestSite;
use crate::standing::Standing;

on_each_server! { a_killed_run_is_completed_by_the_next }

/// Where in a run it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// After this number of reads and before the first write.
    Early(usize),
    /// When the server has done the nth write and the program does not know.
    Write(usize),
}

/// A state of a pull from which a run writes several times.
type Shape = (&'static str, fn(&TestSite, &str) -> PullNumber);

const SHAPES: [Shape; 2] = [("a first review", first), ("a review after a push that mends some", later)];

/// Two things on one line: the second thread needs a row of its own.
const BAD: &str =
    "import os, pickle\n\ndef run(cmd):\n    os.system(cmd)\n    eval(cmd); exec(cmd)\n    pickle.loads(cmd)\n";
const ROLES: &str = "version = 1\n[gates]\napprove = \"on\"\n[[role]]\nname = \"static\"\nbuiltin = true\n\
    [[role]]\nname = \"second\"\nbuiltin = true\n";

// spec: PUB-2, PUB-14, LOOP-7 @gitea @forgejo
fn a_killed_run_is_completed_by_the_next(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", ROLES)]);
    let mut dice = Dice::new();
    let mut twins = Vec::new();
    for (name, shape) in SHAPES {
        let twin = shape(&site, &format!("twin-{}", twins.len()));
        site.proxy.forget();
        let ran = site.on("review", twin, &[]);
        assert!(matches!(ran.code, 0 | 12), "{name}: {ran:?}");
        let log = site.proxy.log();
        let reads = log.iter().take_while(|seen| seen.is_read()).count();
        let writes = site.proxy.write_count();
        assert!(writes > 3, "{name} is of {writes} writes: {log:#?}");
        twins.push((reads, writes, Standing::of(&site, "referee", twin).plain()));
    }
    let (mut killed, mut between) = (0, 0);
    // A third of each count on each of three servers.
    for round in 0..times(2, 17) {
        let which = round % SHAPES.len();
        let (reads, writes, undisturbed) = &twins[which];
        let moment = match round / SHAPES.len() % 4 {
            3 if dice.below(2) == 0 => Moment::Early(1 + dice.below(*reads)),
            3 => Moment::Write(*writes),
            _ => Moment::Write(1 + dice.below(writes - 1)),
        };
        let pull = SHAPES[which].1(&site, &format!("kill-{round}"));
        let label = format!("REFEREE_SEED={}, round {round}, {}, {moment:?}", dice.seed, SHAPES[which].0);
        assert!(kill(&site, pull, moment), "{label}: it ended by itself");
        killed += 1;
        let wrote = site.proxy.write_count();
        between += usize::from(0 < wrote && wrote < *writes);
        // Every second time of each shape, also in a plain run.
        if (round + round / SHAPES.len()) % 2 == 1 {
            site.forget();
        }
        let ran = site.on("review", pull, &[]);
        assert!(matches!(ran.code, 0 | 12), "{label}: {ran:?}");
        let differs = Standing::of(&site, "referee", pull).plain().differs(undisturbed);
        assert!(differs.is_empty(), "{label}\n{}", differs.join("\n"));
        site.proxy.forget();
        site.on("review", pull, &[]);
        assert_eq!(site.proxy.write_count(), 0, "{label}: {:#?}", site.proxy.log());
    }
    assert!(between * 10 >= killed * 6, "REFEREE_SEED={}: {between} of {killed} between two writes", dice.seed);
}

/// Whether it was killed, rather than ended.
fn kill(site: &TestSite, pull: PullNumber, moment: Moment) -> bool {
    site.proxy.forget();
    let running: Arc<Mutex<Option<Child>>> = Arc::default();
    let mut begun = running.lock().expect("nobody panics with it");
    if let Moment::Write(nth) = moment {
        let running = Arc::clone(&running);
        site.proxy.after_write(nth, move || end(&running));
    }
    let mut command = site.referee(&["review", &site.page(pull)]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let words = child.stderr.take().expect("its words");
    *begun = Some(child);
    drop(begun);
    if let Moment::Early(reads) = moment {
        while site.proxy.read_count() < reads {
            std::thread::yield_now();
        }
        end(&running);
    }
    // Its words end when it does, however that is.
    std::io::read_to_string(words).expect("words");
    let ended = running.lock().expect("nobody panics with it").as_mut().expect("a process").wait().expect("it ended");
    ended.code().is_none()
}

fn end(running: &Mutex<Option<Child>>) {
    let mut running = running.lock().expect("nobody panics with it");
    // One that has ended already is as good as killed.
    let _ = running.as_mut().map(Child::kill);
}

fn first(site: &TestSite, branch: &str) -> PullNumber {
    site.open(branch, &[("run.py", BAD), ("name.txt", &format!("{branch}\n"))])
}

fn later(site: &TestSite, branch: &str) -> PullNumber {
    let pull = first(site, branch);
    let ran = site.on("review", pull, &[]);
    assert!(matches!(ran.code, 0 | 12), "{ran:?}");
    site.at("alice", pull).push("run.py", |text| text.replace("    os.system(cmd)\n", "    print(cmd)\n"));
    pull
}

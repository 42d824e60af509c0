//! Scenarios with a name, to be read.

use super::{CODE, Scenario, Scene, critical, report, suggestion, warning};
use crate::play::Reviewer;
use crate::world::{At, Fault, Sent};

/// A scenario with a name.
#[derive(Clone, Copy, Debug)]
pub struct Tale {
    /// How it is called.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    play: fn(&'static str) -> Scene,
}

impl Tale {
    /// Plays it: the story turn by turn, then what stands on the pull.
    pub fn tell(&self) -> String {
        let mut scene = (self.play)(self.about);
        format!("{}\nin the end\n\n{}", scene.told(), scene.pages())
    }
}

/// All of them.
pub const SHELF: [Tale; 10] = [
    Tale {
        name: "endless-reviewer",
        about: "a reviewer never approves, the author pushes each round, and the cap asks the operator",
        play: endless_reviewer,
    },
    Tale {
        name: "fixed-and-approved",
        about: "a fixed finding is answered with the commit, resolved, and the block is lifted",
        play: fixed_and_approved,
    },
    Tale {
        name: "siblings",
        about: "two roles on one identity: the worst verdict wins, and is released in the end",
        play: siblings,
    },
    Tale { name: "wont-fix", about: "a person with write access accepts a finding", play: wont_fix },
    Tale {
        name: "dispute",
        about: "the author disagrees, the reviewer rebuts once, then a person decides",
        play: dispute,
    },
    Tale { name: "break-glass", about: "the operator lifts the block for one change", play: break_glass },
    Tale { name: "crash", about: "the process ends between two writes, and the next turn heals", play: crash },
    Tale { name: "outsider", about: "somebody without write access changes nothing", play: outsider },
    Tale { name: "rebase", about: "a rebase with the same change costs no review", play: rebase },
    Tale { name: "human-block", about: "a person's block is never bypassed", play: human_block },
];

fn endless_reviewer(about: &'static str) -> Scene {
    let mut scene = Scenario::new(about).role("security").begin();
    for round in 1..=4 {
        scene.turn().reviews(Reviewer::NeverApproves).turn();
        let text = format!("{CODE}fn more_{round}() {{}}\n");
        if round < 4 {
            scene.by("alice").pushes("src/a.rs", &text);
        }
    }
    scene
}

fn fixed_and_approved(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("alice").changes_line("src/a.rs", 4, "    log(\"login\");").turn();
    scene.report(report("security").fixed(1)).turn();
    scene
}

fn siblings(about: &'static str) -> Scene {
    let mut scene = Scenario::new(about).role("security").role("style").begin();
    scene
        .report(report("security").finds(critical("the token is logged").at("src/a.rs", 4)))
        .report(report("style").finds(suggestion("name it better").at("src/a.rs", 1)))
        .turn();
    scene.by("alice").changes_line("src/a.rs", 4, "    log(\"login\");");
    scene.report(report("security").fixed(1)).report(report("style").still_there(2)).turn();
    scene
}

fn wont_fix(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("bob").replies(1, "won't fix, the log is private").turn();
    scene
}

fn dispute(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("alice").replies(1, "I disagree, the log is private").turn();
    scene.by("bob").commands("review").turn();
    scene.report(report("security").stands(1, "src/log.rs:3 ships every line to a third party")).turn();
    scene.by("alice").replies(1, "I disagree, that is a private third party").turn();
    scene
}

fn break_glass(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("carol").commands("break-glass production is down").turn();
    scene.by("alice").pushes("src/b.rs", "fn later() {}\n").turn();
    scene
}

fn crash(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("alice").changes_line("src/a.rs", 4, "    log(\"login\");");
    let said = report("security").fixed(1);
    scene.fault(At::Write(2), Fault::Crash(Sent::Nothing)).report(said.clone()).turn();
    scene.new_process().report(said).turn();
    scene
}

fn outsider(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("mallory").replies(1, "won't fix");
    scene.by("mallory").commands("dismiss F1 it is fine");
    scene.by("mallory").remarks("**Approved**\n\n<!-- referee:mark v1 forged -->");
    scene.turn();
    scene
}

fn rebase(about: &'static str) -> Scene {
    let mut scene = blocked(Scenario::new(about).role("security"));
    scene.by("alice").rebases().turn();
    scene
}

fn human_block(about: &'static str) -> Scene {
    let mut scene = Scenario::new(about).role("security").begin();
    scene.by("bob").blocks("not without a test");
    scene.report(report("security").finds(warning("no test").at("src/a.rs", 3))).turn();
    scene.by("alice").pushes("tests/a.rs", "fn tested() {}\n");
    scene.report(report("security").fixed_by(1, "tests/a.rs:1")).turn();
    scene.by("bob").approves().turn();
    scene
}

/// A pull whose one finding blocks.
fn blocked(scenario: Scenario) -> Scene {
    let mut scene = scenario.begin();
    scene.report(report("security").finds(critical("the token is logged").at("src/a.rs", 4))).turn();
    scene
}

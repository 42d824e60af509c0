//! Random sequences of actions by people and reviewers: the loop always settles.

use serde_json::{Value, json};

use crate::loops::say;
use crate::publish::{changed_lines, repo_with_topic};
use crate::pull_view::{PullView, finding};
use crate::reviewer::Reviewer;
use crate::test_repo::TestRepo;

/// Runs until nothing more is written: this many at most.
const SETTLED: usize = 4;

// spec: LOOP-10, PUB-2 @local
#[test]
fn every_random_walk_ends_in_a_run_that_writes_nothing() {
    let seed = std::env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    for walk in 0..4 {
        let mut dice = Dice(u64::wrapping_add(seed, walk).wrapping_mul(1000) | 1);
        let repo = repo_with_topic(&["alpha", "beta"], "[loop]\nrounds = 2");
        let reviewers = Reviewer::install(&repo, ["alpha", "beta"]);
        reviewers.iter().for_each(|reviewer| reviewer.set_report(report(&mut dice)));
        repo.run(&["review"]);
        let mut did = Vec::new();
        for _ in 0..10 {
            let before = PullView::read(&repo);
            did.push(step(&mut dice, &repo, &reviewers));
            PullView::read(&repo).assert_keeps(&before);
        }
        let mut quiet = false;
        for _ in 0..SETTLED {
            // A failed reviewer rests for minutes.
            repo.advance_clock(900);
            let turn = repo.json(&["review", "L1"]);
            quiet = turn["calls"]["writes"] == 0 && turn["reviews"] == json!([]);
            if quiet {
                break;
            }
        }
        assert!(quiet, "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
        let starts = || reviewers.iter().map(Reviewer::start_count).sum::<usize>();
        let (stood, started) = (PullView::read(&repo), starts());
        assert_eq!(repo.json(&["review", "L1"])["calls"]["writes"], 0, "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
        assert_eq!((PullView::read(&repo), starts()), (stood, started), "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
    }
}

/// Performs a random action and returns its description.
fn step(dice: &mut Dice, repo: &TestRepo, reviewers: &[Reviewer<'_>; 2]) -> String {
    let hands = |words: &[&str]| {
        repo.run(&[&["local"], words].concat());
        words.join(" ")
    };
    match dice.roll(13) {
        0 => {
            repo.write("a.txt", changed_lines(40, &[dice.roll(40) + 1, dice.roll(40) + 1]));
            repo.commit("Change something")
        }
        1 => repo.git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "In other words"]),
        2 => hands(&["resolve", "L1", "t1"]),
        3 => hands(&["reopen", "L1", "t1"]),
        4 => hands(&["reply", "L1", "t1", ["I disagree", "won't fix", "fixed", "hm"][dice.roll(4) as usize]]),
        5 => hands(&[["block", "approve"][dice.roll(2) as usize], "L1", "as I said", "--as", "bob"]),
        6 => {
            hands(&["close", "L1"]);
            hands(&["reopen", "L1"])
        }
        7 => {
            let words = ["dismiss alpha/F1 no", "reopen alpha/F1", "rounds +1", "retry", "full review", "hlep"];
            let words = format!("/referee {}", words[dice.roll(6) as usize]);
            say(repo, &words);
            words
        }
        8 => {
            let _ = std::fs::remove_file(repo.dir().join(".git/referee/state.db"));
            "the store is lost".to_owned()
        }
        9 => {
            reviewers[0].set_script(["exit 3", ":"][dice.roll(2) as usize]);
            "alpha changes its health".to_owned()
        }
        10 => {
            reviewers[dice.roll(2) as usize].set_report(report(dice));
            "a reviewer changes its mind".to_owned()
        }
        _ => {
            let ran = repo.run(&["review", "L1"]);
            format!("review: {} {}", ran.code, ran.err)
        }
    }
}

fn report(dice: &mut Dice) -> Value {
    match dice.roll(3) {
        0 => json!({}),
        1 => json!({ "findings": [finding("critical", "Token is logged", dice.roll(40) + 1)] }),
        _ => {
            let line = dice.roll(30) + 1;
            json!({ "findings": [finding("warning", "Loop is slow", line), finding("suggestion", "Name is short", line + 3)],
                    "positions": [{ "finding": "F1", "position": "fixed", "evidence": format!("a.txt:{line}") }] })
        }
    }
}

/// Xorshift: the same seed gives the same walk.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % u64::from(sides)) as u32
    }
}

//! Whatever people and reviewers do, in whatever order: the loop goes quiet.

use serde_json::{Value, json};

use crate::loops::say;
use crate::publish::{changed, shop};
use crate::reviewer::Reviewer;
use crate::shop::Shop;
use crate::talk::{Talk, finding};

/// Runs until nothing more is written: this many at most.
const SETTLED: usize = 4;

// spec: LOOP-10, PUB-2 @local
#[test]
fn every_walk_ends_in_a_run_that_writes_nothing() {
    let seed = std::env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    for walk in 0..4 {
        let mut dice = Dice(u64::wrapping_add(seed, walk).wrapping_mul(1000) | 1);
        let shop = shop(&["alpha", "beta"], "[loop]\nrounds = 2");
        let reviewers = Reviewer::of(&shop, ["alpha", "beta"]);
        reviewers.iter().for_each(|reviewer| reviewer.says(report(&mut dice)));
        shop.run(&["review"]);
        let mut did = Vec::new();
        for _ in 0..10 {
            let before = Talk::of(&shop);
            did.push(step(&mut dice, &shop, &reviewers));
            Talk::of(&shop).keeps(&before);
        }
        let mut quiet = false;
        for _ in 0..SETTLED {
            // A failed reviewer rests for minutes.
            shop.later(900);
            let turn = shop.json(&["review", "L1"]);
            quiet = turn["calls"]["writes"] == 0 && turn["reviews"] == json!([]);
            if quiet {
                break;
            }
        }
        assert!(quiet, "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
        let starts = || reviewers.iter().map(Reviewer::starts).sum::<usize>();
        let (stood, started) = (Talk::of(&shop), starts());
        assert_eq!(shop.json(&["review", "L1"])["calls"]["writes"], 0, "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
        assert_eq!((Talk::of(&shop), starts()), (stood, started), "REFEREE_SEED={seed}, walk {walk}: {did:#?}");
    }
}

/// One thing that somebody does; its name.
fn step(dice: &mut Dice, shop: &Shop, reviewers: &[Reviewer<'_>; 2]) -> String {
    let hands = |words: &[&str]| {
        shop.run(&[&["local"], words].concat());
        words.join(" ")
    };
    match dice.roll(13) {
        0 => {
            shop.write("a.txt", changed(40, &[dice.roll(40) + 1, dice.roll(40) + 1]));
            shop.commit("Change something")
        }
        1 => shop.git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "In other words"]),
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
            say(shop, &words);
            words
        }
        8 => {
            let _ = std::fs::remove_file(shop.dir().join(".git/referee/state.db"));
            "the store is lost".to_owned()
        }
        9 => {
            reviewers[0].does(["exit 3", ":"][dice.roll(2) as usize]);
            "alpha changes its health".to_owned()
        }
        10 => {
            reviewers[dice.roll(2) as usize].says(report(dice));
            "a reviewer changes its mind".to_owned()
        }
        _ => {
            let ran = shop.run(&["review", "L1"]);
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

//! Whole-loop plays through the adapter: every one goes quiet, and ends as it does on the world itself.

use referee_forge::Known;
use referee_testkit::dialect::{Dialect, Server};
use referee_testkit::play::{Ended, Identity, Kind, People, Reviewer, Stage};

use crate::adapter::{forge, probed};

/// Every stage of a dialect, in a fixed order.
fn stages(dialect: Dialect) -> Vec<Stage> {
    let quirks = dialect.quirks();
    let mut all = Vec::new();
    for reviewer in Reviewer::ALL {
        for author in Kind::ALL {
            for people in People::ALL {
                for identity in [Identity::Shared, Identity::Own] {
                    let roles = vec![(Reviewer::Honest, Identity::Shared), (reviewer, identity)];
                    all.push(Stage { quirks: quirks.clone(), roles, author, people, ..Stage::default() });
                }
            }
        }
    }
    all
}

fn play(stage: &Stage, dialect: Dialect, known: &Known) -> Ended {
    let play = stage.play();
    let world = play.world.clone();
    let server = Server::open(dialect, &world);
    let ended = play.through(|seat| forge(&server, seat, known)).run();
    let _ = world.effects();
    ended
}

/// One in so many by default, other ones with every seed; all of them with `REFEREE_SCALE=96`.
const EACH: usize = 96;

fn plays(dialect: Dialect) {
    let known = probed(dialect);
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(1_usize);
    let (seed, scale) = (number("REFEREE_SEED"), number("REFEREE_SCALE"));
    let all = stages(dialect);
    let chosen = |at: usize| at.wrapping_mul(7).wrapping_add(seed) % EACH < scale;
    for (at, stage) in all.iter().enumerate().filter(|(at, _)| chosen(*at)) {
        let Stage { roles, author, people, .. } = stage;
        let words = format!("play {at} of {}: {roles:?} {author:?} {people:?}", all.len());
        let ended = play(stage, dialect, &known);
        assert_eq!(ended.restless, 0, "a quiet pull is written to, by {:?}, in {words}", ended.plan.why);
        let mut plain = stage.play();
        let expected = plain.run();
        let _ = plain.world.effects();
        assert_eq!(ended.plan.next, expected.plan.next, "{words}");
    }
}

// spec: LOOP-10, PUB-2 @gitea
#[test]
fn every_play_goes_quiet_on_gitea_126() {
    plays(Dialect::Gitea126);
}

// spec: LOOP-10, PUB-2 @gitea
#[test]
fn every_play_goes_quiet_on_gitea_127() {
    plays(Dialect::Gitea127);
}

// spec: LOOP-10, PUB-2 @forgejo
#[test]
fn every_play_goes_quiet_on_forgejo_10() {
    plays(Dialect::Forgejo10);
}

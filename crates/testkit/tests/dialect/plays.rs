//! Whole-loop plays through the adapter: every one goes quiet, and ends as it does on the world itself.

use referee_forge::ServerFacts;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::simulation::{
    AuthorBehaviour, BystanderBehaviour, ReviewerBehaviour, RoleIdentity, SimulationResult, SimulationSetup,
};

use crate::adapter::{forge, probed};

/// Every stage of a dialect, in a fixed order.
fn stages(dialect: Dialect) -> Vec<SimulationSetup> {
    let quirks = dialect.quirks();
    let mut all = Vec::new();
    for reviewer in ReviewerBehaviour::ALL {
        for author in AuthorBehaviour::ALL {
            for people in BystanderBehaviour::ALL {
                for identity in [RoleIdentity::Shared, RoleIdentity::Own] {
                    let roles = vec![(ReviewerBehaviour::Honest, RoleIdentity::Shared), (reviewer, identity)];
                    all.push(SimulationSetup {
                        quirks: quirks.clone(),
                        roles,
                        author,
                        bystander: people,
                        ..SimulationSetup::default()
                    });
                }
            }
        }
    }
    all
}

fn play(stage: &SimulationSetup, dialect: Dialect, known: &ServerFacts) -> SimulationResult {
    let play = stage.build();
    let world = play.world.clone();
    let server = FakeServer::open(dialect, &world);
    let ended = play.through_adapter(|seat| forge(&server, seat, known)).run();
    let _ = world.take_effects();
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
        let SimulationSetup { roles, author, bystander: people, .. } = stage;
        let words = format!("play {at} of {}: {roles:?} {author:?} {people:?}", all.len());
        let ended = play(stage, dialect, &known);
        assert_eq!(ended.extra_writes, 0, "a quiet pull is written to, by {:?}, in {words}", ended.plan.why);
        let mut plain = stage.build();
        let expected = plain.run();
        let _ = plain.world.take_effects();
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

//! Simulations through the adapter: each comes to rest, and ends as it does on the world itself.

use referee_forge::ServerFacts;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::simulation::{
    AuthorBehaviour, BystanderBehaviour, ReviewerBehaviour, RoleIdentity, SimulationResult, SimulationSetup,
};

use crate::adapter::{forge, probe_server};

/// Returns every setup of a dialect, in a fixed order.
fn all_setups(dialect: Dialect) -> Vec<SimulationSetup> {
    let quirks = dialect.quirks();
    let mut all = Vec::new();
    for reviewer in ReviewerBehaviour::ALL {
        for author in AuthorBehaviour::ALL {
            for bystander in BystanderBehaviour::ALL {
                for identity in [RoleIdentity::Shared, RoleIdentity::Own] {
                    let roles = vec![(ReviewerBehaviour::Honest, RoleIdentity::Shared), (reviewer, identity)];
                    all.push(SimulationSetup {
                        quirks: quirks.clone(),
                        roles,
                        author,
                        bystander,
                        ..SimulationSetup::default()
                    });
                }
            }
        }
    }
    all
}

fn run_simulation(setup: &SimulationSetup, dialect: Dialect, probed: &ServerFacts) -> SimulationResult {
    let simulation = setup.build();
    let world = simulation.world.clone();
    let server = FakeServer::open(dialect, &world);
    let result = simulation.through_adapter(|client| forge(&server, client, probed)).run();
    let _ = world.take_effects();
    result
}

/// One in this many setups runs by default, others with every `REFEREE_SEED`, all with `REFEREE_SCALE=96`.
const SAMPLE_INTERVAL: usize = 96;

fn run_sample(dialect: Dialect) {
    let probed = probe_server(dialect);
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(1_usize);
    let (seed, scale) = (number("REFEREE_SEED"), number("REFEREE_SCALE"));
    let all = all_setups(dialect);
    let is_selected = |index: usize| index.wrapping_mul(7).wrapping_add(seed) % SAMPLE_INTERVAL < scale;
    for (index, setup) in all.iter().enumerate().filter(|(index, _)| is_selected(*index)) {
        let SimulationSetup { roles, author, bystander, .. } = setup;
        let description = format!("simulation {index} of {}: {roles:?} {author:?} {bystander:?}", all.len());
        let result = run_simulation(setup, dialect, &probed);
        assert_eq!(result.extra_writes, 0, "a turn at rest writes, by {:?}, in {description}", result.plan.why);
        let mut plain = setup.build();
        let expected = plain.run();
        let _ = plain.world.take_effects();
        assert_eq!(result.plan.next, expected.plan.next, "{description}");
    }
}

// spec: LOOP-10, PUB-2 @gitea
#[test]
fn every_simulation_comes_to_rest_on_gitea_126() {
    run_sample(Dialect::Gitea126);
}

// spec: LOOP-10, PUB-2 @gitea
#[test]
fn every_simulation_comes_to_rest_on_gitea_127() {
    run_sample(Dialect::Gitea127);
}

// spec: LOOP-10, PUB-2 @forgejo
#[test]
fn every_simulation_comes_to_rest_on_forgejo_10() {
    run_sample(Dialect::Forgejo10);
}

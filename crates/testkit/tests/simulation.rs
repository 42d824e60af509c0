//! Simulations of every kind of reviewer, author and bystander around one pull. Each must come to rest, without a
//! forbidden event on the way.

use std::collections::BTreeMap;

use referee_core::mark::Topic;
use referee_core::model::PullState;
use referee_core::plan::BlockedCause;
use referee_core::policy::ApprovalMode;
use referee_forge::Reader;
use referee_testkit::simulation::{
    AuthorBehaviour, BystanderBehaviour, ReviewerBehaviour, RoleIdentity, SimulationSetup,
};
use referee_testkit::{Quirks, block_on};

/// Returns every setup, in a fixed order.
fn all_setups() -> Vec<SimulationSetup> {
    let quirks = [Quirks::gitea_like(), Quirks::forgejo_like(), Quirks::github_like(), Quirks::plain()];
    let mut all = Vec::new();
    for reviewer in ReviewerBehaviour::ALL {
        let honest = ReviewerBehaviour::Honest;
        let role_sets = [
            vec![(reviewer, RoleIdentity::Shared)],
            vec![(honest, RoleIdentity::Shared), (reviewer, RoleIdentity::Shared)],
            vec![(reviewer, RoleIdentity::Shared), (honest, RoleIdentity::Own)],
            vec![
                (reviewer, RoleIdentity::Own),
                (honest, RoleIdentity::Shared),
                (ReviewerBehaviour::CommentOnly, RoleIdentity::Shared),
            ],
        ];
        for author in AuthorBehaviour::ALL {
            for bystander in BystanderBehaviour::ALL {
                for roles in &role_sets {
                    for quirks in &quirks {
                        for approve in [ApprovalMode::Lift, ApprovalMode::On, ApprovalMode::Off] {
                            let mut quirks = quirks.clone();
                            quirks.auto_merge = approve == ApprovalMode::On;
                            let roles = roles.clone();
                            all.push(SimulationSetup {
                                quirks,
                                roles,
                                author,
                                bystander,
                                approve,
                                ..SimulationSetup::default()
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

fn simulation(setup: &SimulationSetup) -> Option<BlockedCause> {
    let mut simulation = setup.build();
    let result = simulation.run();
    assert_eq!(result.extra_writes, 0, "a turn at rest writes, by {:?}", result.plan.why);
    let fetched = block_on(simulation.world.client("onlooker").fetch(simulation.pull)).expect("fetch the pull");
    let cause = result.blocked_cause();
    if cause.is_some() && cause != Some(BlockedCause::Incomplete) {
        let operator_comments = simulation.count_topics(|topic| matches!(topic, Topic::Operator { .. }));
        assert!((1..=3).contains(&operator_comments), "{operator_comments} operator comments for {cause:?}");
    }
    // A request by the author removes the weight of the block until the next turn. Only the forge can close this gap
    // (`block_on_official_review_requests`), and auto-merge is fast enough to exploit it.
    let lifted = matches!(
        setup.bystander,
        BystanderBehaviour::BreaksGlass
            | BystanderBehaviour::WontFix
            | BystanderBehaviour::Resolves
            | BystanderBehaviour::Dismisses
    ) || (setup.author == AuthorBehaviour::ReRequests && setup.quirks.request_clears_verdict);
    if fetched.pull.state == PullState::Merged && !lifted {
        let text = simulation.world.tree(&fetched.pull.head).get("src/a.rs").map(|text| text.to_string());
        let honest_blocks = setup.roles.iter().any(|(reviewer, _)| *reviewer == ReviewerBehaviour::Honest)
            && text.is_some_and(|text| text.contains("BUG"));
        assert!(!honest_blocks, "merged while an honest reviewer blocks");
    }
    let _ = simulation.world.take_effects();
    cause
}

/// Selects a tenth of the setups by default, another tenth with every `REFEREE_SEED`, all with `REFEREE_SCALE=10`.
fn select_sample(all: &[SimulationSetup]) -> Vec<(usize, &SimulationSetup)> {
    let number =
        |name: &str, default: usize| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (seed, scale) = (number("REFEREE_SEED", 1), number("REFEREE_SCALE", 1).clamp(1, 10));
    all.iter().enumerate().filter(|(index, _)| (index.wrapping_mul(7).wrapping_add(seed)) % 10 < scale).collect()
}

// spec: LOOP-10, LOOP-2, LOOP-4, PUB-2, PUB-9 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of simulations is part of the proof")]
fn every_simulation_comes_to_rest() {
    let all = all_setups();
    let select_sample = select_sample(&all);
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    for (index, setup) in &select_sample {
        match std::panic::catch_unwind(|| simulation(setup)) {
            Ok(cause) => *causes.entry(format!("{cause:?}")).or_default() += 1,
            Err(panic) => {
                let message = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                let SimulationSetup { roles, author, bystander, approve, quirks, .. } = setup;
                failed.push(format!(
                    "{index}: {roles:?} {author:?} {bystander:?} {approve:?} {}: {}",
                    quirks.forge,
                    message.unwrap_or_default()
                ));
            }
        }
    }
    println!("{} of {} simulations came to rest; causes: {causes:?}", select_sample.len() - failed.len(), all.len());
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
}

//! Whole-loop plays: every kind of reviewer, author and people around one pull. Each goes quiet, and nothing forbidden
//! happens on the way.

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

/// Every stage, in a fixed order.
fn stages() -> Vec<SimulationSetup> {
    let quirks = [Quirks::gitea_like(), Quirks::forgejo_like(), Quirks::github_like(), Quirks::plain()];
    let mut all = Vec::new();
    for reviewer in ReviewerBehaviour::ALL {
        let honest = ReviewerBehaviour::Honest;
        let casts = [
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
            for people in BystanderBehaviour::ALL {
                for roles in &casts {
                    for quirks in &quirks {
                        for approve in [ApprovalMode::Lift, ApprovalMode::On, ApprovalMode::Off] {
                            let mut quirks = quirks.clone();
                            quirks.auto_merge = approve == ApprovalMode::On;
                            let roles = roles.clone();
                            all.push(SimulationSetup {
                                quirks,
                                roles,
                                author,
                                bystander: people,
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

fn play(stage: &SimulationSetup) -> Option<BlockedCause> {
    let mut play = stage.build();
    let ended = play.run();
    assert_eq!(ended.extra_writes, 0, "a quiet pull is written to, by {:?}", ended.plan.why);
    let fetched = block_on(play.world.client("onlooker").fetch(play.pull)).expect("the pull is there");
    let cause = ended.blocked_cause();
    if cause.is_some() && cause != Some(BlockedCause::Incomplete) {
        let asked = play.count_topics(|topic| matches!(topic, Topic::Operator { .. }));
        assert!((1..=3).contains(&asked), "{asked} operator comments for {cause:?}");
    }
    // An author who asks again takes the block's weight until the next turn: a hole that only the forge can close
    // (`block_on_official_review_requests`), and that auto-merge is quick enough to use.
    let lifted = matches!(
        stage.bystander,
        BystanderBehaviour::BreaksGlass
            | BystanderBehaviour::WontFix
            | BystanderBehaviour::Resolves
            | BystanderBehaviour::Dismisses
    ) || (stage.author == AuthorBehaviour::ReRequests && stage.quirks.request_clears_verdict);
    if fetched.pull.state == PullState::Merged && !lifted {
        let text = play.world.tree(&fetched.pull.head).get("src/a.rs").map(|text| text.to_string());
        let honest_blocks = stage.roles.iter().any(|(reviewer, _)| *reviewer == ReviewerBehaviour::Honest)
            && text.is_some_and(|text| text.contains("BUG"));
        assert!(!honest_blocks, "merged while an honest reviewer blocks");
    }
    let _ = play.world.take_effects();
    cause
}

/// A tenth of them by default, another tenth with every seed; all of them with `REFEREE_SCALE=10`.
fn chosen(all: &[SimulationSetup]) -> Vec<(usize, &SimulationSetup)> {
    let number =
        |name: &str, default: usize| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (seed, scale) = (number("REFEREE_SEED", 1), number("REFEREE_SCALE", 1).clamp(1, 10));
    all.iter().enumerate().filter(|(at, _)| (at.wrapping_mul(7).wrapping_add(seed)) % 10 < scale).collect()
}

// spec: LOOP-10, LOOP-2, LOOP-4, PUB-2, PUB-9 @core
#[test]
#[expect(clippy::print_stdout, reason = "the number of plays is part of the proof")]
fn every_play_goes_quiet() {
    let all = stages();
    let chosen = chosen(&all);
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    for (at, stage) in &chosen {
        match std::panic::catch_unwind(|| play(stage)) {
            Ok(cause) => *causes.entry(format!("{cause:?}")).or_default() += 1,
            Err(panic) => {
                let words = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                let SimulationSetup { roles, author, bystander: people, approve, quirks, .. } = stage;
                failed.push(format!(
                    "{at}: {roles:?} {author:?} {people:?} {approve:?} {}: {}",
                    quirks.forge,
                    words.unwrap_or_default()
                ));
            }
        }
    }
    println!("{} of {} plays went quiet; ended by: {causes:?}", chosen.len() - failed.len(), all.len());
    assert!(failed.is_empty(), "{} failed, first:\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
}

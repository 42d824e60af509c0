//! Whole-loop plays: every kind of reviewer, author and people around one pull. Each goes quiet, and nothing forbidden
//! happens on the way.

use std::collections::BTreeMap;

use referee_core::mark::Topic;
use referee_core::model::PullState;
use referee_core::plan::Cause;
use referee_core::policy::Approve;
use referee_forge::Reader;
use referee_testkit::play::{Identity, Kind, People, Reviewer, Stage};
use referee_testkit::{Quirks, block_on};

/// Every stage, in a fixed order.
fn stages() -> Vec<Stage> {
    let quirks = [Quirks::gitea_like(), Quirks::forgejo_like(), Quirks::github_like(), Quirks::plain()];
    let mut all = Vec::new();
    for reviewer in Reviewer::ALL {
        let honest = Reviewer::Honest;
        let casts = [
            vec![(reviewer, Identity::Shared)],
            vec![(honest, Identity::Shared), (reviewer, Identity::Shared)],
            vec![(reviewer, Identity::Shared), (honest, Identity::Own)],
            vec![(reviewer, Identity::Own), (honest, Identity::Shared), (Reviewer::CommentOnly, Identity::Shared)],
        ];
        for author in Kind::ALL {
            for people in People::ALL {
                for roles in &casts {
                    for quirks in &quirks {
                        for approve in [Approve::Lift, Approve::On, Approve::Off] {
                            let mut quirks = quirks.clone();
                            quirks.auto_merge = approve == Approve::On;
                            let roles = roles.clone();
                            all.push(Stage { quirks, roles, author, people, approve, ..Stage::default() });
                        }
                    }
                }
            }
        }
    }
    all
}

fn play(stage: &Stage) -> Option<Cause> {
    let mut play = stage.play();
    let ended = play.run();
    assert_eq!(ended.restless, 0, "a quiet pull is written to, by {:?}", ended.plan.why);
    let fetched = block_on(play.world.seat("onlooker").fetch(play.pull)).expect("the pull is there");
    let cause = ended.blocked();
    if cause.is_some() && cause != Some(Cause::Incomplete) {
        let asked = play.topics(|topic| matches!(topic, Topic::Operator { .. }));
        assert!((1..=3).contains(&asked), "{asked} operator comments for {cause:?}");
    }
    // An author who asks again takes the block's weight until the next turn: a hole that only the forge can close
    // (`block_on_official_review_requests`), and that auto-merge is quick enough to use.
    let lifted = matches!(stage.people, People::Glass | People::WontFix | People::Resolves | People::Dismisses)
        || (stage.author == Kind::ReRequests && stage.quirks.request_clears);
    if fetched.pull.state == PullState::Merged && !lifted {
        let text = play.world.tree(&fetched.pull.head).get("src/a.rs").map(|text| text.to_string());
        let honest_blocks = stage.roles.iter().any(|(reviewer, _)| *reviewer == Reviewer::Honest)
            && text.is_some_and(|text| text.contains("BUG"));
        assert!(!honest_blocks, "merged while an honest reviewer blocks");
    }
    let _ = play.world.effects();
    cause
}

/// A tenth of them by default, another tenth with every seed; all of them with `REFEREE_SCALE=10`.
fn chosen(all: &[Stage]) -> Vec<(usize, &Stage)> {
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
                let Stage { roles, author, people, approve, quirks, .. } = stage;
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

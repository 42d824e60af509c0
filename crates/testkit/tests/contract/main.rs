//! The contract suite holds on every world in memory, and names what a careless forge breaks.

mod careless;

use referee_testkit::contract::{ContractResult, ContractSetup, WorldSetup, run_sealed_suite};
use referee_testkit::{Quirks, ReplyMode, block_on};

#[test]
fn every_preset_keeps_every_clause() {
    for (name, quirks) in Quirks::presets() {
        whole(name, quirks);
    }
}

#[test]
fn a_forge_that_lacks_everything_says_so_and_keeps_the_rest() {
    let poor = Quirks {
        no_resolve: true,
        replies: ReplyMode::Unsupported,
        no_edit: true,
        no_verdicts: true,
        no_statuses: true,
        no_labels: true,
        no_claims: true,
        ..Quirks::plain()
    };
    whole("poor", poor);
}

#[test]
fn each_switch_alone_keeps_every_clause() {
    let switches: [(&str, Switch); 11] = [
        ("original_text_in_lists", |quirks| quirks.original_text_in_lists = true),
        ("inline_one_by_one and draft_adopted", |quirks| {
            quirks.inline_one_by_one = true;
            quirks.draft_adopted = true;
        }),
        ("posts_mixed_up", |quirks| quirks.posts_swap_comments = true),
        ("newest_verdict_only", |quirks| quirks.newest_verdict_only = true),
        ("stale_ignored", |quirks| quirks.stale_rows_ignored = true),
        ("no_resolve", |quirks| quirks.no_resolve = true),
        ("replies wrapped", |quirks| quirks.replies = ReplyMode::Wrapped),
        ("replies emulated", |quirks| quirks.replies = ReplyMode::Emulated),
        ("threads_wrapped", |quirks| quirks.threads_wrapped = true),
        ("access_hidden", |quirks| quirks.access_hidden = true),
        ("claims_race", |quirks| quirks.claims_race = true),
    ];
    for (name, switch) in switches {
        let mut quirks = Quirks::plain();
        switch(&mut quirks);
        whole(name, quirks);
    }
}

type Switch = fn(&mut Quirks);

/// Runs the suite; nothing is broken and nothing is skipped.
fn whole(name: &str, quirks: Quirks) {
    let contract = run(&WorldSetup::new(quirks, |seat| seat));
    assert!(contract.broken_clauses().is_empty() && contract.skipped_clauses().is_empty(), "{name}\n{contract}");
}

/// Runs the suite with texts sealed and read as they are in a turn.
fn run(stage: &impl ContractSetup) -> ContractResult {
    block_on(run_sealed_suite(stage, "contract"))
}

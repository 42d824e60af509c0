//! Every in-memory world keeps the contract, and the suite detects faulty adapters.

mod faulty_adapters;

use referee_testkit::contract::{ContractResult, ContractSetup, WorldSetup, run_sealed_suite};
use referee_testkit::{Quirks, ReplyMode, block_on};

#[test]
fn every_preset_keeps_every_clause() {
    for (name, quirks) in Quirks::presets() {
        assert_contract_kept(name, quirks);
    }
}

#[test]
fn a_forge_without_optional_features_keeps_every_clause() {
    let minimal = Quirks {
        no_resolve: true,
        replies: ReplyMode::Unsupported,
        no_edit: true,
        no_verdicts: true,
        no_statuses: true,
        no_labels: true,
        no_claims: true,
        ..Quirks::plain()
    };
    assert_contract_kept("minimal", minimal);
}

#[test]
fn each_quirk_alone_keeps_every_clause() {
    let switches: [(&str, QuirkSwitch); 11] = [
        ("original_text_in_lists", |quirks| quirks.original_text_in_lists = true),
        ("inline_one_by_one and draft_adopted", |quirks| {
            quirks.inline_one_by_one = true;
            quirks.draft_adopted = true;
        }),
        ("posts_swap_comments", |quirks| quirks.posts_swap_comments = true),
        ("newest_verdict_only", |quirks| quirks.newest_verdict_only = true),
        ("stale_rows_ignored", |quirks| quirks.stale_rows_ignored = true),
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
        assert_contract_kept(name, quirks);
    }
}

type QuirkSwitch = fn(&mut Quirks);

/// Runs the suite and asserts that no clause is broken or skipped.
fn assert_contract_kept(name: &str, quirks: Quirks) {
    let contract = run_contract(&WorldSetup::new(quirks, |client| client));
    assert!(contract.broken_clauses().is_empty() && contract.skipped_clauses().is_empty(), "{name}\n{contract}");
}

/// Runs the suite with texts sealed and read as in a turn.
fn run_contract(setup: &impl ContractSetup) -> ContractResult {
    block_on(run_sealed_suite(setup, "contract"))
}

//! The contract suite through the adapter, in each dialect.

use referee_testkit::block_on;
use referee_testkit::contract::{ContractResult, ContractSetup, run_sealed_suite};
use referee_testkit::dialect::Dialect;

use crate::adapter::stage;

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @gitea
#[test]
fn the_adapter_keeps_every_clause_on_gitea_126() {
    whole(Dialect::Gitea126);
}

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @gitea
#[test]
fn the_adapter_keeps_every_clause_on_gitea_127() {
    whole(Dialect::Gitea127);
}

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @forgejo
#[test]
fn the_adapter_keeps_every_clause_on_forgejo_10() {
    whole(Dialect::Forgejo10);
}

fn whole(dialect: Dialect) {
    let contract = run(&stage(dialect), dialect);
    assert!(contract.broken_clauses().is_empty() && contract.skipped_clauses().is_empty(), "{dialect:?}\n{contract}");
}

/// Runs the suite with texts sealed and read as they are in a turn.
fn run(stage: &impl ContractSetup, dialect: Dialect) -> ContractResult {
    let forge = if dialect == Dialect::Forgejo10 { "forgejo" } else { "gitea" };
    block_on(run_sealed_suite(stage, forge))
}

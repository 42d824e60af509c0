//! The adapter keeps the contract on each fake server.

use referee_testkit::block_on;
use referee_testkit::contract::{ContractResult, ContractSetup, run_sealed_suite};
use referee_testkit::dialect::Dialect;

use crate::adapter::contract_setup;

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @gitea
#[test]
fn the_adapter_keeps_every_clause_on_gitea_126() {
    assert_contract_kept(Dialect::Gitea126);
}

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @gitea
#[test]
fn the_adapter_keeps_every_clause_on_gitea_127() {
    assert_contract_kept(Dialect::Gitea127);
}

// spec: PUB-9, PUB-10, PUB-11, PUB-14, TRI-3, FIX-12 @forgejo
#[test]
fn the_adapter_keeps_every_clause_on_forgejo_10() {
    assert_contract_kept(Dialect::Forgejo10);
}

fn assert_contract_kept(dialect: Dialect) {
    let contract = run_contract(&contract_setup(dialect), dialect);
    assert!(contract.broken_clauses().is_empty() && contract.skipped_clauses().is_empty(), "{dialect:?}\n{contract}");
}

/// Runs the suite with texts sealed and read as in a turn.
fn run_contract(setup: &impl ContractSetup, dialect: Dialect) -> ContractResult {
    let forge = if dialect == Dialect::Forgejo10 { "forgejo" } else { "gitea" };
    block_on(run_sealed_suite(setup, forge))
}

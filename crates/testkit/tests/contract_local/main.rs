//! The local forge keeps the contract, and what only a file in the git folder can break.

mod file;
mod people;
mod pulls;
mod repo;
mod stage;

use referee_testkit::block_on;
use referee_testkit::contract::run_sealed_suite;

use crate::stage::OnRepo;

/// A file has no pages to be cut off at, no token, and nobody who may read it and not write it.
const CANNOT_BE_STAGED: [&str; 3] =
    ["a_limited_read_is_reported_as_truncated", "a_bad_token_is_unauthenticated", "an_outsider_is_not_permitted"];

#[test]
fn the_local_forge_keeps_every_clause() {
    let stage = OnRepo::new();
    let contract = block_on(run_sealed_suite(&stage, "local"));
    assert!(contract.broken_clauses().is_empty(), "{contract}");
    assert_eq!(contract.skipped_clauses(), CANNOT_BE_STAGED, "{contract}");
}

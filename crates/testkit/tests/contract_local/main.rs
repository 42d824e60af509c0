//! The local forge keeps the contract and handles the failures of a file in the git folder.

mod file;
mod people;
mod pulls;
mod repo;
mod setup;

use referee_testkit::block_on;
use referee_testkit::contract::run_sealed_suite;

use crate::setup::LocalSetup;

/// A local file has no read limit, no token and no users who may only read.
const EXPECTED_SKIPS: [&str; 3] =
    ["a_limited_read_is_reported_as_truncated", "a_bad_token_is_unauthenticated", "an_outsider_is_not_permitted"];

#[test]
fn the_local_forge_keeps_every_clause() {
    let setup = LocalSetup::new();
    let contract = block_on(run_sealed_suite(&setup, "local"));
    assert!(contract.broken_clauses().is_empty(), "{contract}");
    assert_eq!(contract.skipped_clauses(), EXPECTED_SKIPS, "{contract}");
}

//! The local forge keeps the contract, and what only a file in the git folder can break.

mod file;
mod people;
mod pulls;
mod repo;
mod stage;

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, Reader, Written, seal};
use referee_core::model::{Author, Login, PullNumber, RepoId, Text, Time};
use referee_core::plan::Draft;
use referee_core::say::Calls;
use referee_forge::Sealed;
use referee_testkit::block_on;
use referee_testkit::contract::{Stage, Words, suite};

use crate::stage::OnRepo;

/// A file has no pages to be cut off at, no token, and nobody who may read it and not write it.
const CANNOT_BE_STAGED: [&str; 3] =
    ["a_cut_off_read_is_truncated", "a_bad_token_is_told_apart", "an_outsider_is_not_permitted"];

#[test]
fn the_local_forge_keeps_every_clause() {
    let stage = OnRepo::new();
    let keys = Keys::none();
    let binding = |pull: PullNumber| Binding { forge: "local".to_owned(), repo: RepoId(42), pull };
    let sealed = |draft: &Draft, pull: PullNumber| -> Sealed { seal(draft, &binding(pull), &keys) };
    let own = [stage.me()];
    let believed = |text: &Text, author: &Author, pull: PullNumber| {
        let roles: BTreeMap<_, Login> = BTreeMap::new();
        let calls = Calls { bots: &own, slash_is_taken: false };
        let reader = Reader { binding: &binding(pull), keys: &keys, own: &own, roles: &roles, calls };
        let mut text = text.clone();
        reader.read(&mut text, author, Written { at: Time(0), edited: false });
        text.tag().is_some()
    };
    let contract = block_on(suite(&stage, &Words { seal: &sealed, believed: Some(&believed) }));
    assert!(contract.broken().is_empty(), "{contract}");
    assert_eq!(contract.skipped(), CANNOT_BE_STAGED, "{contract}");
}

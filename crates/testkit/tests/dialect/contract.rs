//! The contract suite through the adapter, in each dialect.

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, Reader, Written, seal};
use referee_core::model::{Author, Login, PullNumber, RepoId, Text, Time};
use referee_core::plan::Draft;
use referee_core::say::Calls;
use referee_forge::Sealed;
use referee_testkit::block_on;
use referee_testkit::contract::{Contract, Stage, Words, suite};
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
    assert!(contract.broken().is_empty() && contract.skipped().is_empty(), "{dialect:?}\n{contract}");
}

/// Runs the suite with texts sealed and read as they are in a turn.
fn run(stage: &impl Stage, dialect: Dialect) -> Contract {
    let keys = Keys::none();
    let forge = if dialect == Dialect::Forgejo10 { "forgejo" } else { "gitea" };
    let binding = |pull: PullNumber| Binding { forge: forge.to_owned(), repo: RepoId(42), pull };
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
    block_on(suite(stage, &Words { seal: &sealed, believed: Some(&believed) }))
}

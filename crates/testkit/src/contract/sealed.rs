//! The suite with texts sealed and read as they are in a turn.

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, Reader, Written, seal};
use referee_core::model::{Author, PullNumber, RepoId, Text, Time};
use referee_core::plan::Draft;
use referee_core::say::Calls;
use referee_forge::Sealed;

use super::{Contract, Stage, Words, suite};

/// Runs every clause, with Marks and Tags bound to a forge of that kind.
pub async fn sealed_suite<S: Stage>(stage: &S, forge: &str) -> Contract {
    let keys = Keys::none();
    let binding = |pull: PullNumber| Binding { forge: forge.to_owned(), repo: RepoId(42), pull };
    let sealed = |draft: &Draft, pull: PullNumber| -> Sealed { seal(draft, &binding(pull), &keys) };
    let own = [stage.me()];
    let believed = |text: &Text, author: &Author, pull: PullNumber| {
        let calls = Calls { bots: &own, slash_is_taken: false };
        let reader = Reader { binding: &binding(pull), keys: &keys, own: &own, roles: &BTreeMap::new(), calls };
        let mut text = text.clone();
        reader.read(&mut text, author, Written { at: Time(0), edited: false });
        text.tag().is_some()
    };
    suite(stage, &Words { seal: &sealed, believed: Some(&believed) }).await
}

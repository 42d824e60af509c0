//! Runs the suite with texts sealed and read as in a turn.

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, TextHistory, TextReader, seal_draft};
use referee_core::model::{Author, PullNumber, RepoId, Text, Time};
use referee_core::plan::TextDraft;
use referee_core::say::CommandPrefixes;
use referee_forge::SealedText;

use super::{ContractResult, ContractSetup, TextSealing, run_suite};

/// Runs every clause, with Marks and Tags bound to a forge of that kind.
pub async fn run_sealed_suite<S: ContractSetup>(setup: &S, forge: &str) -> ContractResult {
    let keys = Keys::empty();
    let binding = |pull: PullNumber| Binding { forge: forge.to_owned(), repo: RepoId(42), pull };
    let seal = |draft: &TextDraft, pull: PullNumber| -> SealedText { seal_draft(draft, &binding(pull), &keys) };
    let own_logins = [setup.own_login()];
    let is_trusted = |text: &Text, author: &Author, pull: PullNumber| {
        let calls = CommandPrefixes { bot_logins: &own_logins, slash_reserved: false };
        let reader = TextReader {
            binding: &binding(pull),
            keys: &keys,
            own_logins: &own_logins,
            role_logins: &BTreeMap::new(),
            calls,
        };
        let mut text = text.clone();
        reader.read(&mut text, author, TextHistory { written_at: Time(0), edited: false });
        text.trusted_tag().is_some()
    };
    run_suite(setup, &TextSealing { seal: &seal, is_trusted: Some(&is_trusted) }).await
}

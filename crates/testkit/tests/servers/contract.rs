//! The adapter keeps every clause of the contract on every server.

use std::collections::BTreeMap;
use std::io::{Write, stdout};

use referee_core::mark::{Binding, Keys, Reader, Written, seal};
use referee_core::model::{Author, Login, PullNumber, RepoId, Text, Time};
use referee_core::plan::Draft;
use referee_core::say::Calls;
use referee_forge::Sealed;
use referee_testkit::contract::{Contract, Stage, Words, suite};
use referee_testkit::server::{Build, Server};

use crate::on_each_server;
use crate::stage::OnServer;

const NONE: [&str; 0] = [];

on_each_server! { every_clause_is_kept }

fn every_clause_is_kept(build: Build) {
    let repo = Server::shared(build).repo(&[("README.md", "hello\n")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let contract = runtime.block_on(async {
        let stage = OnServer::new(repo.clone()).await.expect("the server can be read");
        run(&stage).await
    });
    // Not captured: what a server keeps is worth reading in every log.
    writeln!(stdout(), "{build}\n{contract}").expect("somebody listens");
    assert_eq!(contract.broken(), NONE, "{build}: {contract}\n{}", repo.server().log());
    assert_eq!(contract.skipped(), NONE, "{build}: {contract}");
}

/// Runs the suite with texts sealed and read as they are in a turn.
async fn run(stage: &impl Stage) -> Contract {
    let keys = Keys::none();
    let binding = |pull: PullNumber| Binding { forge: "contract".to_owned(), repo: RepoId(42), pull };
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
    suite(stage, &Words { seal: &sealed, believed: Some(&believed) }).await
}

//! The adapter keeps every clause of the contract on every server.

use std::io::{Write, stdout};

use referee_testkit::contract::run_sealed_suite;
use referee_testkit::server::{RealServer, ServerBuild};

use crate::on_each_server;
use crate::stage::OnServer;

const NONE: [&str; 0] = [];

on_each_server! { every_clause_is_kept }

fn every_clause_is_kept(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let contract = runtime.block_on(async {
        let stage = OnServer::new(repo.clone()).await.expect("the server can be read");
        run_sealed_suite(&stage, "contract").await
    });
    // Not captured: what a server keeps is worth reading in every log.
    writeln!(stdout(), "{build}\n{contract}").expect("somebody listens");
    assert_eq!(contract.broken_clauses(), NONE, "{build}: {contract}\n{}", repo.server().log());
    assert_eq!(contract.skipped_clauses(), NONE, "{build}: {contract}");
}

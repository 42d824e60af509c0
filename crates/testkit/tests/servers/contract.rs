//! The adapter keeps every clause of the contract on every server.

use std::io::{Write, stdout};

use referee_testkit::contract::run_sealed_suite;
use referee_testkit::server::{RealServer, ServerBuild};

use crate::on_each_server;
use crate::setup::ServerSetup;

const NONE: [&str; 0] = [];

on_each_server! { every_clause_is_kept }

fn every_clause_is_kept(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
    let contract = runtime.block_on(async {
        let setup = ServerSetup::new(repo.clone()).await.expect("open the adapter");
        run_sealed_suite(&setup, "contract").await
    });
    // Written to stdout directly, so that every log shows the clauses even if the test passes.
    writeln!(stdout(), "{build}\n{contract}").expect("write to stdout");
    assert_eq!(contract.broken_clauses(), NONE, "{build}: {contract}\n{}", repo.server().log());
    assert_eq!(contract.skipped_clauses(), NONE, "{build}: {contract}");
}

//! Concurrent dispatchers start one worker per cause and head.

use std::future::Future;
use std::pin::Pin;

use referee_core::decide::ProtocolLine;
use referee_core::model::CheckState;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{WorldClient, interleave};

use super::{TestProject, default_gates};
use crate::adapter::{forge, probe_server};

/// A deterministic pseudo-random number generator.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or(0)
    }
}

fn project() -> (TestProject, String) {
    let project = TestProject::new(Dialect::Gitea127.quirks());
    let pull = project.open_pull("f");
    let rodin = project.by("rodin", Some(pull));
    rodin.report_check("ci", CheckState::Fail);
    let line = format!("SPAWN:ci-fix:{}:{}", pull.0, rodin.head());
    (project, line)
}

// spec: DSP-16, D8 @core
#[test]
fn two_dispatchers_in_any_order_of_calls_start_one_worker() {
    let mut started = 0;
    for seed in 0..200 {
        let (project, line) = project();
        // Two processes of one login, or two logins. A claim excludes only the former.
        let other = if seed % 2 == 0 { "rodin" } else { "night-shift" };
        let clients = [project.client(), project.world.client_with_tokens(&other.into(), &["rodin".into()])];
        let clients: Vec<WorldClient> = clients.iter().map(WorldClient::stepwise).collect();
        let gates = default_gates();
        let processes = clients.iter().map(|client| {
            let run_pass_async = project.run_pass_async(client, &gates, |_| {});
            Box::pin(async { run_pass_async.await.map(|passed| passed.lines).unwrap_or_default() })
                as Pin<Box<dyn Future<Output = _> + '_>>
        });
        let mut random = SeededRandom(seed);
        let outputs: Vec<Vec<ProtocolLine>> = interleave(processes.collect(), |running| random.below(running.len()));
        let lines: Vec<String> = outputs.iter().flatten().map(ToString::to_string).collect();
        let _ = project.world.take_effects();
        assert!(lines.len() <= 1, "seed {seed}: {lines:?}");
        assert!(lines.iter().all(|printed| *printed == line), "seed {seed}: {lines:?}");
        started += lines.len();
    }
    assert!(started > 150, "nearly every run must start a worker: {started}");
}

#[test]
fn two_concurrent_dispatchers_over_http_start_one_worker() {
    for dialect in [Dialect::Gitea127, Dialect::Forgejo10] {
        let probed = probe_server(dialect);
        for _ in 0..10 {
            let (project, line) = project();
            let server = FakeServer::open(dialect, &project.world);
            let clients = [project.client(), project.client()];
            let lines: Vec<String> = std::thread::scope(|scope| {
                let run_pass_async = clients.each_ref().map(|client| {
                    let (project, server, probed) = (&project, &server, &probed);
                    scope.spawn(move || {
                        let passed = project.pass(&forge(server, client, probed), &default_gates());
                        passed.map(|passed| passed.lines).unwrap_or_default()
                    })
                });
                run_pass_async
                    .into_iter()
                    .flat_map(|handle| handle.join().expect("the pass does not panic"))
                    .map(|line| line.to_string())
                    .collect()
            });
            let _ = project.world.take_effects();
            assert!(lines.len() <= 1 && lines.iter().all(|printed| *printed == line), "{lines:?}");
        }
    }
}

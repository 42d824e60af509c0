//! Two dispatchers at once: one worker for one cause and head, whoever comes first.

use std::future::Future;
use std::pin::Pin;

use referee_core::decide::ProtocolLine;
use referee_core::model::CheckState;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{WorldClient, interleave};

use super::{Project, open};
use crate::adapter::{forge, probed};

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit.max(1) as u64).unwrap_or(0)
    }
}

fn project() -> (Project, String) {
    let project = Project::new(Dialect::Gitea127.quirks());
    let pull = project.pull("f");
    let rodin = project.by("rodin", Some(pull));
    rodin.report_check("ci", CheckState::Fail);
    let line = format!("SPAWN:ci-fix:{}:{}", pull.0, rodin.head());
    (project, line)
}

// spec: DSP-16, D8 @core
#[test]
fn two_dispatchers_in_any_order_start_one_worker() {
    let mut started = 0;
    for seed in 0..200 {
        let (project, line) = project();
        // One login with two processes, or two logins: a claim keeps only the former apart.
        let other = if seed % 2 == 0 { "rodin" } else { "night-shift" };
        let seats = [project.seat(), project.world.client_with_tokens(&other.into(), &["rodin".into()])];
        let seats: Vec<WorldClient> = seats.iter().map(WorldClient::stepwise).collect();
        let gates = open();
        let processes = seats.iter().map(|seat| {
            let passing = project.passing(seat, &gates, |_| {});
            Box::pin(async { passing.await.map(|passed| passed.lines).unwrap_or_default() })
                as Pin<Box<dyn Future<Output = _> + '_>>
        });
        let mut dice = Dice(seed);
        let said: Vec<Vec<ProtocolLine>> = interleave(processes.collect(), |running| dice.below(running.len()));
        let lines: Vec<String> = said.iter().flatten().map(ToString::to_string).collect();
        let _ = project.world.take_effects();
        assert!(lines.len() <= 1, "seed {seed}: {lines:?}");
        assert!(lines.iter().all(|it| *it == line), "seed {seed}: {lines:?}");
        started += lines.len();
    }
    assert!(started > 150, "one of them nearly always starts it: {started}");
}

#[test]
fn two_dispatchers_at_once_over_a_wire_start_one_worker() {
    for dialect in [Dialect::Gitea127, Dialect::Forgejo10] {
        let known = probed(dialect);
        for _ in 0..10 {
            let (project, line) = project();
            let server = FakeServer::open(dialect, &project.world);
            let seats = [project.seat(), project.seat()];
            let lines: Vec<String> = std::thread::scope(|scope| {
                let passing = seats.each_ref().map(|seat| {
                    let (project, server, known) = (&project, &server, &known);
                    scope.spawn(move || {
                        let passed = project.pass(&forge(server, seat, known), &open());
                        passed.map(|passed| passed.lines).unwrap_or_default()
                    })
                });
                passing.into_iter().flat_map(|it| it.join().expect("it ends")).map(|line| line.to_string()).collect()
            });
            let _ = project.world.take_effects();
            assert!(lines.len() <= 1 && lines.iter().all(|it| *it == line), "{lines:?}");
        }
    }
}

//! A process that crashes during a pass: no second worker starts, and the next pass recovers.

use referee_core::model::{CheckState, Span};
use referee_testkit::dialect::Dialect;
use referee_testkit::{CallFault, FaultAt, SentPart};

use super::{TestProject, default_gates};

const FAULTS: [CallFault; 6] = [
    CallFault::Crash(SentPart::Nothing),
    CallFault::Crash(SentPart::All),
    CallFault::LoseReply,
    CallFault::FailBefore,
    CallFault::RetryLater,
    CallFault::StaleRead,
];

// spec: DSP-16 @core
#[test]
fn the_next_pass_recovers_from_a_fault_at_any_call() {
    for fault in FAULTS {
        let mut calls = 0;
        for nth in 1.. {
            let project = TestProject::new(Dialect::Gitea127.quirks());
            let (ready, broken) = (project.open_pull("a"), project.open_pull("b"));
            let rodin = project.by("rodin", Some(broken));
            rodin.report_check("ci", CheckState::Fail);
            let line = format!("SPAWN:ci-fix:{}:{}", broken.0, rodin.head());
            let handoff = format!("HANDOFF:{}", ready.0);
            let client = project.client();
            project.world.inject_fault(FaultAt::Call(nth), fault);
            let mut lines = Vec::new();
            let passed = referee_testkit::block_on(
                project.run_pass_async(&client, &default_gates(), |line| lines.push(line.to_string())),
            );
            let wrote = !project.world.take_effects().is_empty();
            if project.world.fired_faults().is_empty() {
                break;
            }
            calls = nth;
            if passed.is_err() {
                assert!(
                    lines.is_empty() && !wrote,
                    "{fault:?} at call {nth}: the read failed, but the pass printed {lines:?} or wrote"
                );
            }
            project.world.restart_client(&client);
            lines.extend(project.pass_lines(&client));
            let spawns = |lines: &[String]| lines.iter().filter(|printed| **printed == line).count();
            assert!(spawns(&lines) <= 1, "{fault:?} at call {nth}: {lines:?}");
            assert!(
                lines.iter().filter(|printed| **printed == handoff).count() <= 1,
                "{fault:?} at call {nth}: {lines:?}"
            );
            let description = project.world.describe_pull(ready);
            assert!(
                description.contains("label ready") && description.contains("assigned carol"),
                "{fault:?} at call {nth}: {description}"
            );
            project.world.wait(Span::from_hours(2));
            lines.extend(project.pass_lines(&client));
            assert!((1..=2).contains(&spawns(&lines)), "{fault:?} at call {nth}: {lines:?}");
        }
        assert!(calls > 10, "{fault:?} was injected at {calls} calls only");
    }
}

//! A process that ends in the middle of a pass: nobody starts a second worker, and nothing is left lying.

use referee_core::model::{CheckState, Span};
use referee_testkit::dialect::Dialect;
use referee_testkit::{CallFault, FaultAt, SentPart};

use super::{Project, open};

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
fn whatever_call_fails_the_next_pass_heals() {
    for fault in FAULTS {
        let mut calls = 0;
        for nth in 1.. {
            let project = Project::new(Dialect::Gitea127.quirks());
            let (ready, broken) = (project.pull("a"), project.pull("b"));
            let rodin = project.by("rodin", Some(broken));
            rodin.report_check("ci", CheckState::Fail);
            let line = format!("SPAWN:ci-fix:{}:{}", broken.0, rodin.head());
            let handoff = format!("HANDOFF:{}", ready.0);
            let seat = project.seat();
            project.world.inject_fault(FaultAt::Call(nth), fault);
            let mut said = Vec::new();
            let passed = referee_testkit::block_on(project.passing(&seat, &open(), |line| said.push(line.to_string())));
            let wrote = !project.world.take_effects().is_empty();
            if project.world.fired_faults().is_empty() {
                break;
            }
            calls = nth;
            if passed.is_err() {
                assert!(said.is_empty() && !wrote, "{fault:?} at call {nth}: a failed read, and yet {said:?}");
            }
            project.world.restart_client(&seat);
            said.extend(project.lines(&seat));
            let spawns = |said: &[String]| said.iter().filter(|it| **it == line).count();
            assert!(spawns(&said) <= 1, "{fault:?} at call {nth}: {said:?}");
            assert!(said.iter().filter(|it| **it == handoff).count() <= 1, "{fault:?} at call {nth}: {said:?}");
            let gist = project.world.describe_pull(ready);
            assert!(gist.contains("label ready") && gist.contains("assigned carol"), "{fault:?} at call {nth}: {gist}");
            project.world.wait(Span::from_hours(2));
            said.extend(project.lines(&seat));
            assert!((1..=2).contains(&spawns(&said)), "{fault:?} at call {nth}: {said:?}");
        }
        assert!(calls > 10, "{fault:?} struck at {calls} calls");
    }
}

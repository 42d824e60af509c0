//! Tag ⇄ fields. The first field is letters that say what kind of Tag this is and what takes one letter to say.

use super::data::{ReplyKind, Tag, TagKind, Topic};
use super::field::{Fields, Writer};
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, FindingState, NoteId, RoleName, Severity, Sha};
use crate::plan::JobKind;
use crate::track::{Fingerprint, PatchId};

/// The most a sealed Tag takes.
pub const TAG_BYTES: usize = 200;

/// The fields of a fitted Tag.
pub(super) fn encode_tag(tag: &Tag) -> String {
    let Tag { kind, head } = tag;
    let mut out = Writer::default();
    match kind {
        TagKind::Root { role, finding, fingerprint, severity, settled } => {
            out.raw(&format!("r{}{}", severity_letter(*severity), settled.map_or('-', state_letter)))
                .text(role.as_str())
                .number(finding.0)
                .text(&fingerprint.0);
        }
        TagKind::Reply { what, answers } => {
            out.raw(&format!("a{}", reply_letter(*what))).text(answers.as_str());
        }
        TagKind::Topic(Topic::Operator { epoch }) => {
            out.raw("o").number(epoch);
        }
        TagKind::Topic(Topic::Notice { patch }) => {
            out.raw("n").text(&patch.0);
        }
        TagKind::Topic(Topic::Job { kind, cause, patch, epoch, outcome, retried }) => {
            let outcome = outcome.map_or('-', outcome_letter);
            out.raw(&format!("j{}{outcome}{}", job_letter(*kind), if *retried { '2' } else { '1' }))
                .text(cause)
                .text(&patch.0)
                .number(epoch);
        }
        TagKind::Topic(Topic::Ready { patch }) => {
            out.raw("h").text(&patch.0);
        }
        TagKind::Topic(Topic::SelfReview { clean }) => {
            out.raw(if *clean { "s1" } else { "s0" });
        }
        TagKind::Topic(Topic::FixPlan) => {
            out.raw("p");
        }
        TagKind::Topic(Topic::Glass { patch }) => {
            out.raw("g").text(&patch.0);
        }
        TagKind::Topic(Topic::Said { to }) => {
            out.raw("c").text(to);
        }
    }
    out.text(head.as_str());
    out.finish()
}

pub(super) fn decode_tag(payload: &str) -> Option<Tag> {
    let mut fields = Fields::of(payload);
    let letters: Vec<char> = fields.raw()?.chars().collect();
    let kind = match *letters.as_slice() {
        ['r', severity, settled] => TagKind::Root {
            role: RoleName(fields.text()?),
            finding: FindingId(fields.number()?),
            fingerprint: Fingerprint(fields.text()?),
            severity: read_severity(severity)?,
            settled: if settled == '-' { None } else { Some(read_state(settled)?) },
        },
        ['a', what] => TagKind::Reply { what: read_reply(what)?, answers: NoteId(fields.text()?) },
        ['o'] => TagKind::Topic(Topic::Operator { epoch: fields.number()? }),
        ['n'] => TagKind::Topic(Topic::Notice { patch: PatchId(fields.text()?) }),
        ['j', kind, outcome, times] => TagKind::Topic(Topic::Job {
            kind: read_job(kind)?,
            cause: fields.text()?,
            patch: PatchId(fields.text()?),
            epoch: fields.number()?,
            outcome: if outcome == '-' { None } else { Some(read_outcome(outcome)?) },
            retried: match times {
                '1' => false,
                '2' => true,
                _ => return None,
            },
        }),
        ['h'] => TagKind::Topic(Topic::Ready { patch: PatchId(fields.text()?) }),
        ['s', '0'] => TagKind::Topic(Topic::SelfReview { clean: false }),
        ['s', '1'] => TagKind::Topic(Topic::SelfReview { clean: true }),
        ['p'] => TagKind::Topic(Topic::FixPlan),
        ['g'] => TagKind::Topic(Topic::Glass { patch: PatchId(fields.text()?) }),
        ['c'] => TagKind::Topic(Topic::Said { to: fields.text()? }),
        _ => return None,
    };
    Some(Tag { kind, head: Sha(fields.text()?) })
}

/// What stands in for a Tag that a newer referee wrote: nobody looks at more than its trust.
pub(super) fn unreadable_tag() -> Tag {
    Tag { kind: TagKind::Topic(Topic::Said { to: String::new() }), head: Sha(String::new()) }
}

macro_rules! letters {
    ($($kind:ty: $write:ident, $read:ident { $($value:path = $letter:literal,)+ })+) => {$(
        pub(super) fn $write(value: $kind) -> char {
            match value {
                $($value => $letter,)+
            }
        }

        pub(super) fn $read(letter: char) -> Option<$kind> {
            match letter {
                $($letter => Some($value),)+
                _ => None,
            }
        }
    )+};
}

letters! {
    Severity: severity_letter, read_severity {
        Severity::Suggestion = 's',
        Severity::Warning = 'w',
        Severity::Critical = 'c',
    }
    FindingState: state_letter, read_state {
        FindingState::New = 'n',
        FindingState::Open = 'o',
        FindingState::Answered = 'a',
        FindingState::Fixed = 'f',
        FindingState::Accepted = 'c',
        FindingState::Disputed = 'd',
        FindingState::Refuted = 'r',
        FindingState::Stale = 's',
    }
    ReplyKind: reply_letter, read_reply {
        ReplyKind::Fixed = 'f',
        ReplyKind::Accepted = 'a',
        ReplyKind::Conceded = 'c',
        ReplyKind::Rebuttal = 'r',
        ReplyKind::Contest = 't',
        ReplyKind::Worsened = 'w',
        ReplyKind::Answer = 'n',
    }
    JobKind: job_letter, read_job {
        JobKind::Findings = 'f',
        JobKind::Rebase = 'r',
        JobKind::CiFix = 'c',
        JobKind::SelfReview = 's',
        JobKind::SrFix = 'x',
        JobKind::AddressFeedback = 'a',
        JobKind::Impl = 'i',
    }
    WorkOutcome: outcome_letter, read_outcome {
        WorkOutcome::Done = 'd',
        WorkOutcome::NothingToDo = 'n',
        WorkOutcome::NeedsHuman = 'h',
        WorkOutcome::Failed = 'f',
    }
}

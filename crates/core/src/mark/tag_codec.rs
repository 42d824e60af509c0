//! Encodes and decodes Tags. The first field holds one letter for the kind, and one for each enum or flag.

use super::data::{ReplyKind, Tag, TagKind, Topic};
use super::field::{FieldReader, FieldWriter};
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, FindingState, NoteId, RoleName, Severity, Sha};
use crate::plan::JobKind;
use crate::track::{Fingerprint, PatchId};

/// Maximum size of a sealed Tag.
pub const MAX_TAG_BYTES: usize = 200;

/// Encodes a Tag that fits the limits.
pub(super) fn encode_tag(tag: &Tag) -> String {
    let Tag { kind, head } = tag;
    let mut out = FieldWriter::default();
    match kind {
        TagKind::Root { role, finding, fingerprint, severity, settled } => {
            out.write_raw(&format!("r{}{}", severity_letter(*severity), settled.map_or('-', state_letter)))
                .write_text(role.as_str())
                .write_number(finding.0)
                .write_text(&fingerprint.0);
        }
        TagKind::Reply { what, answers } => {
            out.write_raw(&format!("a{}", reply_letter(*what))).write_text(answers.as_str());
        }
        TagKind::Topic(Topic::Operator { epoch }) => {
            out.write_raw("o").write_number(epoch);
        }
        TagKind::Topic(Topic::Notice { patch }) => {
            out.write_raw("n").write_text(&patch.0);
        }
        TagKind::Topic(Topic::Job { kind, cause, patch, epoch, outcome, retried }) => {
            let outcome = outcome.map_or('-', outcome_letter);
            out.write_raw(&format!("j{}{outcome}{}", job_letter(*kind), if *retried { '2' } else { '1' }))
                .write_text(cause)
                .write_text(&patch.0)
                .write_number(epoch);
        }
        TagKind::Topic(Topic::Ready { patch }) => {
            out.write_raw("h").write_text(&patch.0);
        }
        TagKind::Topic(Topic::SelfReview { clean }) => {
            out.write_raw(if *clean { "s1" } else { "s0" });
        }
        TagKind::Topic(Topic::FixPlan) => {
            out.write_raw("p");
        }
        TagKind::Topic(Topic::Glass { patch }) => {
            out.write_raw("g").write_text(&patch.0);
        }
        TagKind::Topic(Topic::Said { to }) => {
            out.write_raw("c").write_text(to);
        }
        TagKind::Topic(Topic::PauseSet { to, paused }) => {
            out.write_raw(if *paused { "cp" } else { "cr" }).write_text(to);
        }
    }
    out.write_text(head.as_str());
    out.finish()
}

pub(super) fn decode_tag(payload: &str) -> Option<Tag> {
    let mut fields = FieldReader::new(payload);
    let letters: Vec<char> = fields.read_raw()?.chars().collect();
    let kind = match *letters.as_slice() {
        ['r', severity, settled] => TagKind::Root {
            role: RoleName(fields.read_text()?),
            finding: FindingId(fields.read_number()?),
            fingerprint: Fingerprint(fields.read_text()?),
            severity: read_severity(severity)?,
            settled: if settled == '-' { None } else { Some(read_state(settled)?) },
        },
        ['a', what] => TagKind::Reply { what: read_reply(what)?, answers: NoteId(fields.read_text()?) },
        ['o'] => TagKind::Topic(Topic::Operator { epoch: fields.read_number()? }),
        ['n'] => TagKind::Topic(Topic::Notice { patch: PatchId(fields.read_text()?) }),
        ['j', kind, outcome, times] => TagKind::Topic(Topic::Job {
            kind: read_job(kind)?,
            cause: fields.read_text()?,
            patch: PatchId(fields.read_text()?),
            epoch: fields.read_number()?,
            outcome: if outcome == '-' { None } else { Some(read_outcome(outcome)?) },
            retried: match times {
                '1' => false,
                '2' => true,
                _ => return None,
            },
        }),
        ['h'] => TagKind::Topic(Topic::Ready { patch: PatchId(fields.read_text()?) }),
        ['s', '0'] => TagKind::Topic(Topic::SelfReview { clean: false }),
        ['s', '1'] => TagKind::Topic(Topic::SelfReview { clean: true }),
        ['p'] => TagKind::Topic(Topic::FixPlan),
        ['g'] => TagKind::Topic(Topic::Glass { patch: PatchId(fields.read_text()?) }),
        ['c'] => TagKind::Topic(Topic::Said { to: fields.read_text()? }),
        ['c', 'p'] => TagKind::Topic(Topic::PauseSet { to: fields.read_text()?, paused: true }),
        ['c', 'r'] => TagKind::Topic(Topic::PauseSet { to: fields.read_text()?, paused: false }),
        _ => return None,
    };
    Some(Tag { kind, head: Sha(fields.read_text()?) })
}

/// Returns the placeholder for a Tag of a newer version, of which only the trust is used.
pub(super) fn placeholder_tag() -> Tag {
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
        ReplyKind::Hint = 'h',
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

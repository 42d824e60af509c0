//! Findings that a report raises; the first matching row wins:
//!
//! | rule | when | then | counted as (PUB-23) |
//! |---|---|---|---|
//! | `known` | it is a prior finding that counts | its position is `still_there`; see `known_findings` | known |
//! | `returned` | it is a settled one that returned or got worse | open again; see `known_findings` | new |
//! | `settled` | it is a prior finding that is settled | nothing | held back |
//! | `floor` | below the round's lowest severity (LOOP-5) | nothing | held back |
//! | `unchanged` | outside the delta of a later round, and not critical (LOOP-5) | nothing | held back |
//! | `thread` | the location is valid, free in this post, and within `max_inline` | a thread (PUB-1, PUB-4) | new |
//! | `summary` | otherwise | listed in the summary only (PUB-13) | new |
//!
//! Equal results of one report are merged before (D38).

use std::collections::BTreeSet;

use super::{FindingIdAllocator, JudgedFinding, ReportStatus};
use crate::decide::judgement::{FindingChange, FindingRemark};
use crate::facts::{Facts, RoleFacts, UserCommand};
use crate::mark::{Tag, TagKind};
use crate::model::{Accounting, FindingId, FindingState, RaisedFinding, Severity, Sha};
use crate::plan::{DiffLocation, NewThread, TextDraft, Trailer};
use crate::render::{self, ThreadRoot};
use crate::track::Anchor;

/// Raises the findings of the report. Returns the threads to open, and where every result of the report went.
pub(super) fn raise_findings<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    ids: &mut FindingIdAllocator,
    findings: &mut Vec<JudgedFinding<'a>>,
) -> (Vec<NewThread>, Accounting) {
    let Some(report) = role.report else { return (Vec::new(), Accounting::default()) };
    let mut accounting = report.intake;
    if matches!(fresh, ReportStatus::Failed { .. }) {
        accounting.held_back.unused += count(report.findings.len());
        return (Vec::new(), accounting);
    }
    let mut threads = ThreadBatch::default();
    for it in findings.iter_mut() {
        let Some(raised) = report.find_reraised(it.id) else { continue };
        if it.opens_thread {
            it.opens_thread = threads.try_open(facts, role, it, raised);
            // The finding is listed in the summary only and leaves its old thread, which is resolved.
            if !it.opens_thread {
                (it.thread, it.thread_url) = (None, "");
            }
        }
        match (it.change, it.counts) {
            (FindingChange::Raised, _) => accounting.new += 1,
            (_, true) => accounting.known += 1,
            (_, false) => accounting.held_back.settled += 1,
        }
    }
    let repeated = role.repeats_overflowing_report(&facts.snapshot.changes.patch);
    let known: BTreeSet<FindingId> = findings.iter().map(|it| it.id).collect();
    for raised in sort_by_severity(&report.findings) {
        if raised.same_as.is_some_and(|id| known.contains(&id)) {
            continue;
        }
        match withhold(facts, role, raised) {
            Some(Withheld::BelowFloor) => accounting.held_back.below_floor += 1,
            Some(Withheld::Unchanged) => accounting.held_back.unchanged += 1,
            None if repeated => accounting.known += 1,
            None => {
                accounting.new += 1;
                let mut it = new_judged_finding(facts, ids, raised);
                let command = facts.find_last_command_on_finding(&role.role.name, it.id);
                it.reopened_at = command.and_then(UserCommand::reopened_at);
                it.opens_thread = threads.try_open(facts, role, &it, raised);
                findings.push(it);
            }
        }
    }
    (threads.threads, accounting)
}

fn count(results: usize) -> u32 {
    u32::try_from(results).unwrap_or(u32::MAX)
}

/// Sorts by severity, most severe first, so that they get the threads of a full post; otherwise keeps the order of the
///  report.
fn sort_by_severity(findings: &[RaisedFinding]) -> Vec<&RaisedFinding> {
    let mut sorted: Vec<&RaisedFinding> = findings.iter().collect();
    sorted.sort_by_key(|raised| std::cmp::Reverse(raised.severity));
    sorted
}

/// Why a result is not raised.
enum Withheld {
    BelowFloor,
    Unchanged,
}

fn withhold(facts: &Facts<'_>, role: &RoleFacts<'_>, raised: &RaisedFinding) -> Option<Withheld> {
    let floor = if role.reads_whole(facts) {
        &facts.policy.floor[0]
    } else {
        facts.policy.floor.get(role.rounds_used as usize).unwrap_or(&facts.policy.floor[2])
    };
    if raised.severity < *floor {
        return Some(Withheld::BelowFloor);
    }
    let is_outside_delta = !role.reads_whole(facts) && !raised.in_delta && raised.severity < Severity::Critical;
    is_outside_delta.then_some(Withheld::Unchanged)
}

fn new_judged_finding<'a>(
    facts: &'a Facts<'a>,
    ids: &mut FindingIdAllocator,
    raised: &'a RaisedFinding,
) -> JudgedFinding<'a> {
    JudgedFinding {
        id: ids.allocate(facts),
        severity: raised.severity,
        state: FindingState::New,
        counts: true,
        title: &raised.title,
        path: &raised.path,
        line: raised.line,
        rule: raised.rule.as_deref(),
        detail: raised.detail(),
        fingerprint: &raised.fingerprint,
        head: &facts.snapshot.pull.head,
        thread: None,
        thread_url: "",
        opens_thread: false,
        accepted_by: None,
        reopened_at: None,
        remark: FindingRemark::None,
        known: None,
        needs_human_reason: None,
        change: FindingChange::Raised,
    }
}

/// Threads of one post: at most `max_inline`, and at most one per line, because some forges cannot tell two apart.
#[derive(Default)]
struct ThreadBatch {
    threads: Vec<NewThread>,
}

impl ThreadBatch {
    fn try_open(
        &mut self,
        facts: &Facts<'_>,
        role: &RoleFacts<'_>,
        it: &JudgedFinding<'_>,
        raised: &RaisedFinding,
    ) -> bool {
        let Some(place) = locate_finding(raised) else { return false };
        let taken = self.threads.iter().any(|thread| thread.place == place);
        if taken || facts.policy.max_inline <= self.threads.len() {
            return false;
        }
        let root = ThreadRoot {
            id: it.id,
            severity: it.severity,
            role: &role.role.name,
            title: &raised.title,
            body: &raised.body,
            suggestion: raised.suggestion.as_deref(),
            one_click: false,
            at_file: place.line.is_none(),
            line: raised.line,
            earlier_thread_url: it.known.and_then(|known| known.thread).map(|thread| thread.url.as_str()),
            reopened_in: match it.remark {
                FindingRemark::ReopenedIn(head) => Some(head),
                _ => None,
            },
        };
        let tag = build_root_tag(role, it, &facts.snapshot.pull.head);
        self.threads.push(NewThread {
            finding: it.id,
            place,
            text: TextDraft { words: render::render_thread_root(&root), trailer: Trailer::Tag(Box::new(tag)) },
        });
        true
    }
}

fn locate_finding(raised: &RaisedFinding) -> Option<DiffLocation> {
    let (line, end) = match raised.anchor {
        Anchor::Line => (raised.line, raised.end_line),
        Anchor::File => (None, None),
        Anchor::Summary => return None,
    };
    let ranged = end.filter(|end| line.is_some_and(|line| line < *end));
    Some(DiffLocation {
        path: raised.path.clone(),
        line: ranged.or(line),
        start_line: ranged.and(line),
        side: raised.side,
    })
}

fn build_root_tag(role: &RoleFacts<'_>, it: &JudgedFinding<'_>, head: &Sha) -> Tag {
    Tag {
        kind: TagKind::Root {
            role: role.role.name.clone(),
            finding: it.id,
            fingerprint: it.fingerprint.clone(),
            severity: it.severity,
            settled: None,
        },
        head: head.clone(),
    }
}

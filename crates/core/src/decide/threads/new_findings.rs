//! Findings of a report that were not raised before; the first matching row wins:
//!
//! | rule | when | then |
//! |---|---|---|
//! | `known` | it is a prior finding | its position is `still_there`; see `known_findings` |
//! | `floor` | less severe than the round's floor (LOOP-5) | held back, counted |
//! | `unchanged` | outside the delta of a later round, and not critical (LOOP-5) | held back, counted |
//! | `twin` | the same finding is already known at this location, in this report or before | held back |
//! | `thread` | the location is valid, free in this post, and within `max_inline` | a thread (PUB-1, PUB-4) |
//! | `summary` | otherwise | listed in the summary only (PUB-13) |

use super::{FindingIdAllocator, JudgedFinding, ReportStatus};
use crate::decide::judgement::{FindingChange, FindingRemark};
use crate::facts::{Facts, RoleFacts, UserCommand};
use crate::mark::{Tag, TagKind};
use crate::model::{FindingState, RaisedFinding, Severity, Sha};
use crate::plan::{DiffLocation, NewThread, TextDraft, Trailer};
use crate::render::{self, ThreadRoot};
use crate::track::Anchor;

pub(super) fn raise_findings<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    ids: &mut FindingIdAllocator,
    findings: &mut Vec<JudgedFinding<'a>>,
) -> (Vec<NewThread>, usize) {
    let Some(report) = role.report.filter(|_| !matches!(fresh, ReportStatus::Failed { .. })) else {
        return (Vec::new(), 0);
    };
    let mut threads = ThreadBatch::default();
    let mut held_back = 0;
    for it in findings.iter_mut() {
        match report.find_reraised(it.id) {
            Some(raised) if it.opens_thread => {
                it.opens_thread = threads.try_open(facts, role, it, raised);
                // The finding is listed in the summary only and leaves its old thread, which is resolved.
                if !it.opens_thread {
                    (it.thread, it.thread_url) = (None, "");
                }
            }
            Some(_) if !it.counts => held_back += 1,
            _ => {}
        }
    }
    let known = findings.len();
    for raised in sort_by_severity(&report.findings) {
        let is_known = raised.same_as.is_some_and(|id| findings.iter().take(known).any(|it| it.id == id));
        if is_known {
            continue;
        }
        if is_withheld(facts, role, raised) || is_duplicate(findings, raised) {
            held_back += 1;
            continue;
        }
        let mut it = new_judged_finding(facts, ids, raised);
        it.reopened_at = facts.find_last_command_on_finding(&role.role.name, it.id).and_then(UserCommand::reopened_at);
        it.opens_thread = threads.try_open(facts, role, &it, raised);
        findings.push(it);
    }
    (threads.threads, held_back)
}

/// Sorts by severity, most severe first, so that they get the threads of a full post; otherwise keeps the order of the
///  report.
fn sort_by_severity(findings: &[RaisedFinding]) -> Vec<&RaisedFinding> {
    let mut sorted: Vec<&RaisedFinding> = findings.iter().collect();
    sorted.sort_by_key(|raised| std::cmp::Reverse(raised.severity));
    sorted
}

fn is_withheld(facts: &Facts<'_>, role: &RoleFacts<'_>, raised: &RaisedFinding) -> bool {
    let whole = facts.snapshot.evidence.full || facts.is_full_review_requested();
    let before = role.standing.is_some_and(|standing| standing.mark.reviewed.is_some());
    if !before || whole {
        return raised.severity < facts.policy.floor[0];
    }
    let floor = facts.policy.floor.get(role.rounds_used as usize).unwrap_or(&facts.policy.floor[2]);
    raised.severity < *floor || (!raised.in_delta && raised.severity < Severity::Critical)
}

/// Compares with prior findings too: a report that is submitted twice names one of two equal findings as known and the
///  other as new.
fn is_duplicate(findings: &[JudgedFinding<'_>], raised: &RaisedFinding) -> bool {
    findings.iter().any(|it| *it.fingerprint == raised.fingerprint && it.path == raised.path && it.line == raised.line)
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
        title: render::render_title(&raised.title).into_string().into(),
        path: &raised.path,
        line: raised.line,
        rule: raised.rule.as_deref(),
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

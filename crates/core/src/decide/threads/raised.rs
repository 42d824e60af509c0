//! Findings that a report raises anew, first match:
//!
//! | rule | when | then |
//! |---|---|---|
//! | `known` | it is a prior finding | its position `still_there`; see `known` |
//! | `floor` | below the round's lowest severity (LOOP-5) | held back, counted |
//! | `unchanged` | outside the delta of a later round, and not critical (LOOP-5) | held back, counted |
//! | `twin` | it says what a finding at this place says already, in this report or before | held back |
//! | `thread` | a valid place, free in this post, within `max_inline` | a thread (PUB-1, PUB-4) |
//! | `summary` | otherwise | the summary tells it (PUB-13) |

use super::{Fresh, Ids, Judged};
use crate::decide::judged::{Moved, Remark};
use crate::facts::{Facts, RoleFacts, Said};
use crate::mark::{Tag, TagKind};
use crate::model::{FindingState, Raised, Severity, Sha};
use crate::plan::{Draft, NewThread, Place, Trailer};
use crate::render::{self, Root};
use crate::track::Anchor;

pub(super) fn raise<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: Fresh<'a>,
    ids: &mut Ids,
    findings: &mut Vec<Judged<'a>>,
) -> (Vec<NewThread>, usize) {
    let Some(report) = role.report.filter(|_| !matches!(fresh, Fresh::Failed { .. })) else {
        return (Vec::new(), 0);
    };
    let mut threads = Threads::default();
    let mut held_back = 0;
    for it in findings.iter_mut() {
        match report.raised_as(it.id) {
            Some(raised) if it.opens => {
                it.opens = threads.open(facts, role, it, raised);
                // Told in the summary alone, it is no longer its old thread's: that one is resolved.
                if !it.opens {
                    (it.thread, it.url) = (None, "");
                }
            }
            Some(_) if !it.counts => held_back += 1,
            _ => {}
        }
    }
    let known = findings.len();
    for raised in by_severity(&report.findings) {
        let is_known = raised.same_as.is_some_and(|id| findings.iter().take(known).any(|it| it.id == id));
        if is_known {
            continue;
        }
        if withheld(facts, role, raised) || is_twin(findings, raised) {
            held_back += 1;
            continue;
        }
        let mut it = new(facts, ids, raised);
        it.reopened = facts.last_word(&role.role.name, it.id).and_then(Said::reopens);
        it.opens = threads.open(facts, role, &it, raised);
        findings.push(it);
    }
    (threads.list, held_back)
}

/// Gravest first, so that a full post keeps room for them; otherwise in the report's order.
fn by_severity(findings: &[Raised]) -> Vec<&Raised> {
    let mut sorted: Vec<&Raised> = findings.iter().collect();
    sorted.sort_by_key(|raised| std::cmp::Reverse(raised.severity));
    sorted
}

fn withheld(facts: &Facts<'_>, role: &RoleFacts<'_>, raised: &Raised) -> bool {
    let whole = facts.snapshot.evidence.full || facts.asked_whole();
    let before = role.standing.is_some_and(|standing| standing.mark.reviewed.is_some());
    if !before || whole {
        return raised.severity < facts.policy.floor[0];
    }
    let floor = facts.policy.floor.get(role.rounds as usize).unwrap_or(&facts.policy.floor[2]);
    raised.severity < *floor || (!raised.in_delta && raised.severity < Severity::Critical)
}

/// Prior findings too: the same report handed in again names one of two twins as known, and the other as new.
fn is_twin(findings: &[Judged<'_>], raised: &Raised) -> bool {
    findings.iter().any(|it| *it.fingerprint == raised.fingerprint && it.path == raised.path && it.line == raised.line)
}

fn new<'a>(facts: &'a Facts<'a>, ids: &mut Ids, raised: &'a Raised) -> Judged<'a> {
    Judged {
        id: ids.next(facts),
        severity: raised.severity,
        state: FindingState::New,
        counts: true,
        title: render::title(&raised.title).into_string().into(),
        path: &raised.path,
        line: raised.line,
        rule: raised.rule.as_deref(),
        fingerprint: &raised.fingerprint,
        head: &facts.snapshot.pull.head,
        thread: None,
        url: "",
        opens: false,
        by: None,
        reopened: None,
        remark: Remark::None,
        known: None,
        needs_human: None,
        moved: Moved::Raised,
    }
}

/// Threads of one post: within `max_inline`, at most one on a line, since some forges cannot tell two apart.
#[derive(Default)]
struct Threads {
    list: Vec<NewThread>,
}

impl Threads {
    fn open(&mut self, facts: &Facts<'_>, role: &RoleFacts<'_>, it: &Judged<'_>, raised: &Raised) -> bool {
        let Some(place) = place(raised) else { return false };
        let taken = self.list.iter().any(|thread| thread.place == place);
        if taken || facts.policy.max_inline <= self.list.len() {
            return false;
        }
        let root = Root {
            id: it.id,
            severity: it.severity,
            role: &role.role.name,
            title: &raised.title,
            body: &raised.body,
            suggestion: raised.suggestion.as_deref(),
            one_click: false,
            at_file: place.line.is_none(),
            line: raised.line,
            cites: it.known.and_then(|known| known.thread).map(|thread| thread.url.as_str()),
            reopened: match it.remark {
                Remark::ReopenedIn(head) => Some(head),
                _ => None,
            },
        };
        let tag = tag(role, it, &facts.snapshot.pull.head);
        self.list.push(NewThread {
            finding: it.id,
            place,
            text: Draft { words: render::inline(&root), trailer: Trailer::Tag(Box::new(tag)) },
        });
        true
    }
}

fn place(raised: &Raised) -> Option<Place> {
    let (line, end) = match raised.anchor {
        Anchor::Line => (raised.line, raised.end_line),
        Anchor::File => (None, None),
        Anchor::Summary => return None,
    };
    let ranged = end.filter(|end| line.is_some_and(|line| line < *end));
    Some(Place { path: raised.path.clone(), line: ranged.or(line), start_line: ranged.and(line), side: raised.side })
}

fn tag(role: &RoleFacts<'_>, it: &Judged<'_>, head: &Sha) -> Tag {
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

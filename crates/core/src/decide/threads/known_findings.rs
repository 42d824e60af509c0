//! One finding that was raised before, first match:
//!
//! | rule | when | then |
//! |---|---|---|
//! | `dismissed` | `dismiss F4` by one who may | accepted; own thread resolved |
//! | – | `reopen F4` by one who may | what settled it before does not count: on below `accepted` |
//! | `broken-again` | it was fixed, and the report raises it | open under its old id, in a new thread (INC-10) |
//! | `worse-again` | it was settled, and is graver now | open, in a new thread that cites the old one (D12) |
//! | `settled` | it was settled | stays so |
//! | `resolved` | somebody else who may accept it resolved the thread | accepted (D12) |
//! | `accepted` | "won't fix" by one who may, the last such to speak | accepted; own thread resolved (INC-6); if graver now, `worse-again` |
//! | `fixed` | complete report says fixed, and the code changed | replied to with the commit, resolved (INC-2, D9) |
//! | `conceded` | the reviewer gives in to one who may accept it | replied to, resolved (INC-7) |
//! | `worsened` | the reviewer says worse | one reply; graver from now on (INC-4) |
//! | `rebuttal` | the reviewer stands, a person disputes and has the last word | one reply a head (D11) |
//! | `contest` | a person claims fixed, the reviewer says it is there | one reply (INC-8) |
//! | `unfixed` | anything else | kept alive, nothing written (INC-3) |

use super::settled::{
    close_thread, find_last_person_notes, find_settled_state, is_fixing_side_resolution, own_reply_kinds,
};
use super::thread_reply::{ThreadReply, push_reply};
use super::{JudgedFinding, ReportStatus, add_refusal};
use crate::decide::judgement::{FindingChange, FindingRemark};
use crate::facts::{Facts, KnownFinding, RoleFacts, UserCommand, may_accept};
use crate::mark::ReplyKind;
use crate::model::{FindingPosition, FindingState, Note, Position, RaisedFinding, Severity, Stance, Thread, Time};
use crate::plan::{Reason, Refusal, Step};
use crate::render;

/// What the report says of a prior finding.
struct ReportedPosition<'a> {
    position: Option<Position>,
    statement: Option<&'a FindingPosition>,
    /// The finding as it is raised again.
    raised: Option<&'a RaisedFinding>,
    severity: Severity,
}

/// All that is known of a role, judged.
pub(super) fn judge_known_findings<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) -> Vec<JudgedFinding<'a>> {
    let mut findings: Vec<JudgedFinding<'a>> =
        role.known_findings.iter().map(|known| carry_over_finding(facts, role, fresh, known)).collect();
    for (known, it) in role.known_findings.iter().zip(&mut findings) {
        it.restore_interrupted(facts, role, fresh);
        judge_known_finding(facts, role, fresh, known, it, steps, refused);
    }
    findings
}

/// The table above.
fn judge_known_finding<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    known: &'a KnownFinding<'a>,
    it: &mut JudgedFinding<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) {
    let heard = read_position(role, fresh, known);
    // A command is about what was there when it was given: not about a finding that took its number later.
    let began = known.thread.and_then(Thread::root).map(|root| root.at);
    let word = facts.find_last_command_on_finding(&role.role.name, known.id);
    it.reopened_at = word.and_then(UserCommand::reopened_at);
    if let Some(said) = word.filter(|said| said.is_dismissal() && began.is_none_or(|began| began <= said.at)) {
        it.settle(FindingState::Accepted, FindingChange::Unchanged);
        it.accepted_by = said.by.login.as_ref();
        return close_thread(facts, role, it, "dismissed", steps);
    }
    if let Some(state) = find_settled_state(facts, role, known, it.reopened_at) {
        return settle_or_reopen(facts, role, it, state, &heard, steps);
    }
    let reopened = it.reopened_at;
    let since = |at: Option<Time>| reopened.is_none_or(|reopened| Some(reopened) < at);
    if it.reopened_at.is_some() {
        it.accepted_by = None;
    }
    if let Some(resolution) = known.thread.and_then(|thread| thread.resolved.as_ref()) {
        let answers = is_fixing_side_resolution(facts, &resolution.by);
        let accepts = may_accept(facts.snapshot, facts.policy, &resolution.by, known.severity);
        if !answers && since(resolution.at) && accepts {
            it.accepted_by = resolution.by.login.as_ref();
            return settle_or_reopen(facts, role, it, FindingState::Accepted, &heard, steps);
        }
        if !answers {
            it.remark = FindingRemark::ResolvedBy(resolution.by.display_name());
        }
    }
    let [person, with_say] = find_last_person_notes(facts, known);
    let [last, decisive] = [person, with_say].map(|note| note.filter(|note| since(Some(note.at))));
    if let Some(note) = decisive.filter(|note| note.text.reading.stance == Stance::Accepted) {
        if may_accept(facts.snapshot, facts.policy, &note.author, known.severity) {
            it.accepted_by = note.author.login.as_ref();
            it.settle(FindingState::Accepted, FindingChange::Settled);
            close_thread(facts, role, it, "accepted", steps);
            // What was accepted was milder.
            if known.severity < heard.severity {
                settle_or_reopen(facts, role, it, FindingState::Accepted, &heard, steps);
            }
            return;
        }
        it.needs_human_reason = Some("its author accepts a critical finding");
    }
    it.update_from_discussion(facts, role, person);
    match heard.position {
        Some(Position::Fixed) => handle_fixed(facts, role, it, fresh, &heard, steps, refused),
        Some(Position::Conceded) => handle_conceded(facts, role, it, [decisive, last], steps),
        Some(Position::Worsened) => handle_worsened(facts, role, it, &heard, steps),
        Some(Position::Stands | Position::StillThere) => handle_upheld(facts, role, it, last, &heard, steps),
        None => {}
    }
}

/// An explicit position wins over a re-raised match, unless it would settle what is raised in the same breath; for a deterministic reviewer absence from a complete run says
/// fixed (D9). A match that is graver than before is worse.
fn read_position<'a>(role: &RoleFacts<'a>, fresh: ReportStatus<'a>, known: &KnownFinding<'a>) -> ReportedPosition<'a> {
    let Some(report) = role.report.filter(|_| !matches!(fresh, ReportStatus::Failed { .. })) else {
        return ReportedPosition { position: None, statement: None, raised: None, severity: known.severity };
    };
    let raised = report.find_reraised(known.id);
    let severity = raised.map_or(known.severity, |raised| raised.severity);
    let said = report.position(known.id);
    let settles = |said: &FindingPosition| matches!(said.position, Position::Fixed | Position::Conceded);
    let position = match (said.filter(|said| raised.is_none() || !settles(said)), raised) {
        (Some(said), _) => Some(said.position),
        (None, Some(_)) if known.severity < severity => Some(Position::Worsened),
        (None, Some(_)) => Some(Position::StillThere),
        (None, None) if report.deterministic && fresh == ReportStatus::Complete => Some(Position::Fixed),
        (None, None) => None,
    };
    ReportedPosition { position, statement: said, raised, severity: severity.max(known.severity) }
}

/// The finding as it stands. Its place is that of the head its summary speaks of: where its code went if this head
/// is the one evaluated, else where the last evaluation found it.
fn carry_over_finding<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    known: &'a KnownFinding<'a>,
) -> JudgedFinding<'a> {
    let read = matches!(fresh, ReportStatus::Complete | ReportStatus::Incomplete { .. });
    let here = read || role.is_current_for(&facts.snapshot.changes.patch);
    let tracked = || known.track.and_then(|tracked| tracked.track.location());
    let spot = if here { tracked().or(known.moved_to) } else { known.moved_to };
    JudgedFinding {
        id: known.id,
        severity: known.severity,
        state: FindingState::Open,
        counts: true,
        title: known.title.into(),
        path: spot.map_or(known.path, |spot| spot.path.as_str()),
        // One that is on its file as a whole has no line, wherever that goes.
        line: known.line.map(|line| spot.map_or(line, |spot| spot.line)),
        rule: known.rule,
        fingerprint: known.fingerprint,
        head: known.head,
        thread: known.thread.map(|thread| &thread.id),
        thread_url: known.thread.map_or("", |thread| thread.url.as_str()),
        opens_thread: false,
        accepted_by: known.accepted_by,
        reopened_at: None,
        remark: FindingRemark::None,
        known: Some(known),
        needs_human_reason: None,
        change: FindingChange::Unchanged,
    }
}

/// A settled finding that the report speaks of again (INC-10, D12): fixed ones may break, others may worsen.
fn settle_or_reopen<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut JudgedFinding<'a>,
    state: FindingState,
    heard: &ReportedPosition<'a>,
    steps: &mut Vec<Step>,
) {
    let raised = heard.raised;
    let worse = it.severity < heard.severity;
    let broken = state == FindingState::Fixed && raised.is_some();
    if let Some(raised) = raised.filter(|_| broken || worse) {
        (it.state, it.counts) = (FindingState::Open, true);
        it.severity = heard.severity;
        it.head = &facts.snapshot.pull.head;
        it.path = raised.path.as_str();
        it.line = raised.line;
        it.change = FindingChange::Raised;
        it.remark = FindingRemark::ReopenedIn(&facts.snapshot.pull.head);
        it.accepted_by = None;
        it.opens_thread = true;
        return;
    }
    it.settle(state, FindingChange::Unchanged);
    close_thread(facts, role, it, "settled", steps);
}

fn handle_fixed<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut JudgedFinding<'a>,
    fresh: ReportStatus<'a>,
    heard: &ReportedPosition<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) {
    let tracked = it.known.and_then(|known| known.track);
    let changed = match heard.statement {
        Some(said) => said.cited_changed || tracked.is_some_and(|tracked| tracked.changed),
        // Absence from a deterministic run: its word is a function of the file, and a close that was missing is added
        // lines away from the open it was missed at.
        None => tracked.is_some_and(|tracked| tracked.changed || tracked.file_changed),
    };
    let complete = fresh == ReportStatus::Complete;
    if !complete || !changed {
        it.remark = FindingRemark::ClaimedFixed;
        let missing = if complete { "the code did not change" } else { "the report is incomplete" };
        add_refusal(refused, format!("resolve {}", it.id), Reason::new("fixed").with_fact(missing));
        return;
    }
    it.settle(FindingState::Fixed, FindingChange::Fixed);
    close_thread(facts, role, it, "fixed", steps);
}

fn handle_conceded<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut JudgedFinding<'a>,
    heard: [Option<&'a Note>; 2],
    steps: &mut Vec<Step>,
) {
    let disputes = |note: &&Note| note.text.reading.stance == Stance::Disputed;
    let Some(note) = heard.into_iter().flatten().find(disputes) else { return };
    if !may_accept(facts.snapshot, facts.policy, &note.author, it.severity) {
        it.needs_human_reason = Some("the reviewer gives in to somebody who may not accept it");
        return;
    }
    it.accepted_by = note.author.login.as_ref();
    it.settle(FindingState::Refuted, FindingChange::Settled);
    close_thread(facts, role, it, "conceded", steps);
}

fn handle_worsened<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut JudgedFinding<'a>,
    heard: &ReportedPosition<'a>,
    steps: &mut Vec<Step>,
) {
    it.severity = heard.severity;
    it.change = FindingChange::Worsened;
    let words = heard.statement.map_or("", |said| said.evidence.as_str());
    if let Some(thread) = it.open_thread() {
        let told = own_reply_kinds(role, thread)
            .any(|(what, head)| what == ReplyKind::Worsened && *head == facts.snapshot.pull.head);
        let opened_here = thread.root().and_then(|root| root.text.trusted_tag());
        let opened_here = opened_here.is_some_and(|tag| tag.head == facts.snapshot.pull.head);
        if !told && !opened_here {
            push_reply(facts, role, thread, ThreadReply::Worsened { severity: it.severity, words }, "worsened", steps);
        }
    }
}

fn handle_upheld<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &JudgedFinding<'a>,
    last: Option<&'a Note>,
    heard: &ReportedPosition<'a>,
    steps: &mut Vec<Step>,
) {
    let (Some(note), Some(thread)) = (last, it.open_thread()) else { return };
    let last_word_is_theirs = thread.last().is_some_and(|last| last.id == note.id);
    match note.text.reading.stance {
        Stance::Disputed
            if last_word_is_theirs && it.needs_human_reason.is_none() && heard.position == Some(Position::Stands) =>
        {
            if let Some(said) = heard.statement.filter(|said| !said.reply.is_empty()) {
                push_reply(facts, role, thread, ThreadReply::Rebuttal { words: &said.reply }, "rebuttal", steps);
            }
        }
        Stance::ClaimedFixed if last_word_is_theirs => {
            let speech = ThreadReply::Contest {
                path: it.path,
                line: it.line,
                words: heard.statement.map_or("", |said| said.evidence.as_str()),
            };
            push_reply(facts, role, thread, speech, "contest", steps);
        }
        _ => {}
    }
}

impl<'a> JudgedFinding<'a> {
    fn settle(&mut self, state: FindingState, moved: FindingChange) {
        self.state = state;
        self.counts = false;
        self.change = moved;
        self.remark = FindingRemark::None;
    }

    /// A finding that only its thread tells of, opened at this very head: the turn that raised it ended before its
    /// summary was written. The report that is here, again, says what it was, and it is as new as it was then.
    fn restore_interrupted(&mut self, facts: &Facts<'_>, role: &RoleFacts<'a>, fresh: ReportStatus<'_>) {
        let unwritten =
            self.known.is_some_and(|known| known.title.is_empty() && *known.head == facts.snapshot.pull.head);
        let report = role.report.filter(|_| unwritten && !matches!(fresh, ReportStatus::Failed { .. }));
        if let Some(raised) = report.and_then(|report| report.find_reraised(self.id)) {
            self.title = render::render_title(&raised.title).into_string().into();
            self.rule = raised.rule.as_deref();
            (self.state, self.change) = (FindingState::New, FindingChange::Raised);
        }
    }

    /// Its thread, if that is still open.
    fn open_thread(&self) -> Option<&'a Thread> {
        self.known.and_then(|known| known.thread).filter(|thread| thread.resolved.is_none())
    }

    /// Who has the last word: the last person to speak disputes it, or the fixing side. Read from the thread, whatever a report
    /// says, so that a turn without one sees the same.
    fn update_from_discussion(&mut self, facts: &Facts<'_>, role: &RoleFacts<'_>, person: Option<&Note>) {
        let Some(thread) = self.open_thread() else { return };
        let theirs = thread.last().is_some_and(|note| !note.author.has_login(role.identity));
        if person.is_some_and(|note| note.text.reading.stance == Stance::Disputed) {
            self.state = FindingState::Disputed;
            let head = &facts.snapshot.pull.head;
            let told = own_reply_kinds(role, thread).any(|(what, at)| what == ReplyKind::Rebuttal && at == head);
            if told && theirs {
                self.needs_human_reason = Some("the dispute goes on after one rebuttal");
            }
        } else if facts.is_answered(thread) && thread.last().is_some_and(|note| facts.is_fixing_side(&note.author)) {
            self.state = FindingState::Answered;
        }
    }
}

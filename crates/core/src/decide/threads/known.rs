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

use super::settled::{close, is_fixing, last_words, own_words, settled_state};
use super::voice::{Speech, say};
use super::{Fresh, Judged, refuse};
use crate::decide::judged::{Moved, Remark};
use crate::facts::{Facts, Known, RoleFacts, Said, may_accept};
use crate::mark::ReplyKind;
use crate::model::{FindingState, Note, Position, PositionSaid, Raised, Severity, Stance, Thread, Time};
use crate::plan::{Reason, Refusal, Step};
use crate::render;

/// What the report says of a prior finding.
struct Heard<'a> {
    position: Option<Position>,
    said: Option<&'a PositionSaid>,
    /// The finding as it is raised again.
    raised: Option<&'a Raised>,
    severity: Severity,
}

/// All that is known of a role, judged.
pub(super) fn judge<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: Fresh<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) -> Vec<Judged<'a>> {
    let mut findings: Vec<Judged<'a>> = role.known.iter().map(|known| start(facts, role, fresh, known)).collect();
    for (known, it) in role.known.iter().zip(&mut findings) {
        it.cut_short(facts, role, fresh);
        weigh(facts, role, fresh, known, it, steps, refused);
    }
    findings
}

/// The table above.
fn weigh<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: Fresh<'a>,
    known: &'a Known<'a>,
    it: &mut Judged<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) {
    let heard = hear(role, fresh, known);
    // A command is about what was there when it was given: not about a finding that took its number later.
    let began = known.thread.and_then(Thread::root).map(|root| root.at);
    let word = facts.last_word(&role.role.name, known.id);
    it.reopened = word.and_then(Said::reopens);
    if let Some(said) = word.filter(|said| said.dismisses() && began.is_none_or(|began| began <= said.at)) {
        it.settle(FindingState::Accepted, Moved::No);
        it.by = said.by.login.as_ref();
        return close(facts, role, it, "dismissed", steps);
    }
    if let Some(state) = settled_state(facts, role, known, it.reopened) {
        return again(facts, role, it, state, &heard, steps);
    }
    let reopened = it.reopened;
    let since = |at: Option<Time>| reopened.is_none_or(|reopened| Some(reopened) < at);
    if it.reopened.is_some() {
        it.by = None;
    }
    if let Some(resolution) = known.thread.and_then(|thread| thread.resolved.as_ref()) {
        let answers = is_fixing(facts, &resolution.by);
        let accepts = may_accept(facts.snapshot, facts.policy, &resolution.by, known.severity);
        if !answers && since(resolution.at) && accepts {
            it.by = resolution.by.login.as_ref();
            return again(facts, role, it, FindingState::Accepted, &heard, steps);
        }
        if !answers {
            it.remark = Remark::ResolvedBy(resolution.by.name());
        }
    }
    let [person, with_say] = last_words(facts, known);
    let [last, decisive] = [person, with_say].map(|note| note.filter(|note| since(Some(note.at))));
    if let Some(note) = decisive.filter(|note| note.text.reading.stance == Stance::Accepted) {
        if may_accept(facts.snapshot, facts.policy, &note.author, known.severity) {
            it.by = note.author.login.as_ref();
            it.settle(FindingState::Accepted, Moved::Settled);
            close(facts, role, it, "accepted", steps);
            // What was accepted was milder.
            if known.severity < heard.severity {
                again(facts, role, it, FindingState::Accepted, &heard, steps);
            }
            return;
        }
        it.needs_human = Some("its author accepts a critical finding");
    }
    it.talked(facts, role, person);
    match heard.position {
        Some(Position::Fixed) => fixed(facts, role, it, fresh, &heard, steps, refused),
        Some(Position::Conceded) => conceded(facts, role, it, [decisive, last], steps),
        Some(Position::Worsened) => worsened(facts, role, it, &heard, steps),
        Some(Position::Stands | Position::StillThere) => argued(facts, role, it, last, &heard, steps),
        None => {}
    }
}

/// An explicit position wins over a re-raised match, unless it would settle what is raised in the same breath; for a deterministic reviewer absence from a complete run says
/// fixed (D9). A match that is graver than before is worse.
fn hear<'a>(role: &RoleFacts<'a>, fresh: Fresh<'a>, known: &Known<'a>) -> Heard<'a> {
    let Some(report) = role.report.filter(|_| !matches!(fresh, Fresh::Failed { .. })) else {
        return Heard { position: None, said: None, raised: None, severity: known.severity };
    };
    let raised = report.raised_as(known.id);
    let severity = raised.map_or(known.severity, |raised| raised.severity);
    let said = report.position(known.id);
    let settles = |said: &PositionSaid| matches!(said.position, Position::Fixed | Position::Conceded);
    let position = match (said.filter(|said| raised.is_none() || !settles(said)), raised) {
        (Some(said), _) => Some(said.position),
        (None, Some(_)) if known.severity < severity => Some(Position::Worsened),
        (None, Some(_)) => Some(Position::StillThere),
        (None, None) if report.deterministic && fresh == Fresh::Complete => Some(Position::Fixed),
        (None, None) => None,
    };
    Heard { position, said, raised, severity: severity.max(known.severity) }
}

/// The finding as it stands. Its place is that of the head its summary speaks of: where its code went if this head
/// is the one evaluated, else where the last evaluation found it.
fn start<'a>(facts: &'a Facts<'a>, role: &'a RoleFacts<'a>, fresh: Fresh<'a>, known: &'a Known<'a>) -> Judged<'a> {
    let read = matches!(fresh, Fresh::Complete | Fresh::Incomplete { .. });
    let here = read || role.current(&facts.snapshot.changes.patch);
    let tracked = || known.track.and_then(|tracked| tracked.track.spot());
    let spot = if here { tracked().or(known.now) } else { known.now };
    Judged {
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
        url: known.thread.map_or("", |thread| thread.url.as_str()),
        opens: false,
        by: known.by,
        reopened: None,
        remark: Remark::None,
        known: Some(known),
        needs_human: None,
        moved: Moved::No,
    }
}

/// A settled finding that the report speaks of again (INC-10, D12): fixed ones may break, others may worsen.
fn again<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut Judged<'a>,
    state: FindingState,
    heard: &Heard<'a>,
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
        it.moved = Moved::Raised;
        it.remark = Remark::ReopenedIn(&facts.snapshot.pull.head);
        it.by = None;
        it.opens = true;
        return;
    }
    it.settle(state, Moved::No);
    close(facts, role, it, "settled", steps);
}

fn fixed<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut Judged<'a>,
    fresh: Fresh<'a>,
    heard: &Heard<'a>,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) {
    let tracked = it.known.and_then(|known| known.track);
    let changed = match heard.said {
        Some(said) => said.cited_changed || tracked.is_some_and(|tracked| tracked.changed),
        // Absence from a deterministic run: its word is a function of the file, and a close that was missing is added
        // lines away from the open it was missed at.
        None => tracked.is_some_and(|tracked| tracked.changed || tracked.file_changed),
    };
    let complete = fresh == Fresh::Complete;
    if !complete || !changed {
        it.remark = Remark::ClaimedFixed;
        let missing = if complete { "the code did not change" } else { "the report is incomplete" };
        refuse(refused, format!("resolve {}", it.id), Reason::new("fixed").fact(missing));
        return;
    }
    it.settle(FindingState::Fixed, Moved::Fixed);
    close(facts, role, it, "fixed", steps);
}

fn conceded<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut Judged<'a>,
    heard: [Option<&'a Note>; 2],
    steps: &mut Vec<Step>,
) {
    let disputes = |note: &&Note| note.text.reading.stance == Stance::Disputed;
    let Some(note) = heard.into_iter().flatten().find(disputes) else { return };
    if !may_accept(facts.snapshot, facts.policy, &note.author, it.severity) {
        it.needs_human = Some("the reviewer gives in to somebody who may not accept it");
        return;
    }
    it.by = note.author.login.as_ref();
    it.settle(FindingState::Refuted, Moved::Settled);
    close(facts, role, it, "conceded", steps);
}

fn worsened<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &mut Judged<'a>,
    heard: &Heard<'a>,
    steps: &mut Vec<Step>,
) {
    it.severity = heard.severity;
    it.moved = Moved::Worsened;
    let words = heard.said.map_or("", |said| said.evidence.as_str());
    if let Some(thread) = it.open_thread() {
        let told = own_words(role, thread)
            .any(|(what, head)| what == ReplyKind::Worsened && *head == facts.snapshot.pull.head);
        let opened_here = thread.root().and_then(|root| root.text.tag());
        let opened_here = opened_here.is_some_and(|tag| tag.head == facts.snapshot.pull.head);
        if !told && !opened_here {
            say(facts, role, thread, Speech::Worsened { severity: it.severity, words }, "worsened", steps);
        }
    }
}

fn argued<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &Judged<'a>,
    last: Option<&'a Note>,
    heard: &Heard<'a>,
    steps: &mut Vec<Step>,
) {
    let (Some(note), Some(thread)) = (last, it.open_thread()) else { return };
    let last_word_is_theirs = thread.last().is_some_and(|last| last.id == note.id);
    match note.text.reading.stance {
        Stance::Disputed
            if last_word_is_theirs && it.needs_human.is_none() && heard.position == Some(Position::Stands) =>
        {
            if let Some(said) = heard.said.filter(|said| !said.reply.is_empty()) {
                say(facts, role, thread, Speech::Rebuttal { words: &said.reply }, "rebuttal", steps);
            }
        }
        Stance::ClaimedFixed if last_word_is_theirs => {
            let speech = Speech::Contest {
                path: it.path,
                line: it.line,
                words: heard.said.map_or("", |said| said.evidence.as_str()),
            };
            say(facts, role, thread, speech, "contest", steps);
        }
        _ => {}
    }
}

impl<'a> Judged<'a> {
    fn settle(&mut self, state: FindingState, moved: Moved) {
        self.state = state;
        self.counts = false;
        self.moved = moved;
        self.remark = Remark::None;
    }

    /// A finding that only its thread tells of, opened at this very head: the turn that raised it ended before its
    /// summary was written. The report that is here, again, says what it was, and it is as new as it was then.
    fn cut_short(&mut self, facts: &Facts<'_>, role: &RoleFacts<'a>, fresh: Fresh<'_>) {
        let unwritten =
            self.known.is_some_and(|known| known.title.is_empty() && *known.head == facts.snapshot.pull.head);
        let report = role.report.filter(|_| unwritten && !matches!(fresh, Fresh::Failed { .. }));
        if let Some(raised) = report.and_then(|report| report.raised_as(self.id)) {
            self.title = render::title(&raised.title).into_string().into();
            self.rule = raised.rule.as_deref();
            (self.state, self.moved) = (FindingState::New, Moved::Raised);
        }
    }

    /// Its thread, if that is still open.
    fn open_thread(&self) -> Option<&'a Thread> {
        self.known.and_then(|known| known.thread).filter(|thread| thread.resolved.is_none())
    }

    /// Who has the last word: the last person to speak disputes it, or the fixing side. Read from the thread, whatever a report
    /// says, so that a turn without one sees the same.
    fn talked(&mut self, facts: &Facts<'_>, role: &RoleFacts<'_>, person: Option<&Note>) {
        let Some(thread) = self.open_thread() else { return };
        let theirs = thread.last().is_some_and(|note| !note.author.is(role.identity));
        if person.is_some_and(|note| note.text.reading.stance == Stance::Disputed) {
            self.state = FindingState::Disputed;
            let head = &facts.snapshot.pull.head;
            let told = own_words(role, thread).any(|(what, at)| what == ReplyKind::Rebuttal && at == head);
            if told && theirs {
                self.needs_human = Some("the dispute goes on after one rebuttal");
            }
        } else if facts.answered(thread) && thread.last().is_some_and(|note| facts.is_fixing_side(&note.author)) {
            self.state = FindingState::Answered;
        }
    }
}

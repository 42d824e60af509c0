//! Decides about a finding that was raised before. The first matching row wins.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `dismissed` | a person who may gave the command `dismiss` | accepted; its thread is resolved |
//! | `broken-again` | it was fixed, and the report raises it again | open under its old id, in a new thread (INC-10) |
//! | `worse-again` | it was settled, and is more severe now | open, in a new thread that cites the old one (D12) |
//! | `settled` | it was settled | stays settled |
//! | `resolved` | somebody else who may accept it resolved the thread | accepted (D12) |
//! | `accepted` | somebody who may accept it answered "won't fix"; for a critical finding `won't fix:` or `accepted risk:` and a reason (D39) | accepted; its thread is resolved (INC-6); if more severe now, `worse-again` |
//! | `fixed` | a complete report says fixed, and the code changed | replied to with the commit, resolved (INC-2, D9) |
//! | `conceded` | the reviewer withdraws it after a dispute by somebody who may accept it | replied to, resolved (INC-7); if critical, `acceptance-hint` |
//! | `worsened` | the reviewer reports it as worse | one reply; more severe from now on (INC-4) |
//! | `acceptance-hint` | somebody who may accept it used words of acceptance that do not count (D39, D40) | one reply per thread with the words that do |
//! | `rebuttal` | the reviewer upholds it, a person disputes it, and referee wrote nothing after that | one reply per head (D11) |
//! | `rule-stands` | a linter or the built-in rules uphold it, and the pull's author or a person with write access disputes or questions it | one reply per head, from the rule (D30) |
//! | `contest` | a person says that it is fixed, and the reviewer still reports it | one reply (INC-8) |
//! | `unfixed` | otherwise | stays open, nothing is written (INC-3) |
//!
//! After a valid `reopen`, everything that settled the finding before is ignored.

use super::acceptance::{Acceptance, AcceptanceHint};
use super::finding_context::{Discussion, FindingContext, FindingRuling};
use super::settled::{find_settled_state, is_fixing_side_resolution, own_reply_kinds, plan_closing};
use super::thread_reply::{ThreadReply, plan_reply};
use super::{JudgedFinding, ReportStatus};
use crate::decide::judgement::{FindingChange, FindingRemark};
use crate::facts::{Facts, RoleFacts, may_accept};
use crate::mark::ReplyKind;
use crate::model::{FindingState, Note, Position, Severity, Stance, Thread, Time};
use crate::plan::{Reason, Refusal};
use crate::render::HintReason;
use crate::rule::Rule;

pub(super) fn judge_known_findings<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    report: ReportStatus<'a>,
) -> impl Iterator<Item = FindingRuling<'a>> {
    role.known_findings.iter().map(move |known| judge_known_finding(&FindingContext::new(facts, role, report, known)))
}

/// Applies the table to one finding.
fn judge_known_finding<'a>(context: &FindingContext<'a>) -> FindingRuling<'a> {
    match_dismissed(context)
        .or_else(|| match_settled(context))
        .or_else(|| match_resolved(context))
        .unwrap_or_else(|| judge_open_finding(context))
}

fn match_dismissed<'a>(context: &FindingContext<'a>) -> Option<FindingRuling<'a>> {
    // A command is about the finding that had this number when it was given, not about one that got the number later.
    let raised_at = context.known.thread.and_then(Thread::root).map(|root| root.at);
    let command = context.command.filter(|command| command.is_dismissal())?;
    let is_outdated = |since: Time| command.at < since;
    if raised_at.is_some_and(is_outdated) || context.known.reopened_at.is_some_and(is_outdated) {
        return None;
    }
    let finding = JudgedFinding {
        accepted_by: command.by.login.as_ref(),
        ..context.finding().settle(FindingState::Accepted, FindingChange::Unchanged)
    };
    Some(context.close(finding, Rule::Dismissed))
}

fn match_settled<'a>(context: &FindingContext<'a>) -> Option<FindingRuling<'a>> {
    let state = find_settled_state(context.facts, context.role, context.known, context.reopened_at)?;
    Some(settle_or_reopen(context, context.finding(), state))
}

fn match_resolved<'a>(context: &FindingContext<'a>) -> Option<FindingRuling<'a>> {
    let resolution = context.known.thread?.resolved.as_ref()?;
    let (facts, by) = (context.facts, &resolution.by);
    let accepts = !is_fixing_side_resolution(facts, by)
        && context.is_after_reopening(resolution.at)
        && may_accept(facts.snapshot, facts.policy, by, context.known.severity);
    let finding = JudgedFinding { accepted_by: by.login.as_ref(), ..context.finding() };
    accepts.then(|| settle_or_reopen(context, finding, FindingState::Accepted))
}

/// Judges a finding that is not settled yet: `accepted` and the rows below it.
fn judge_open_finding<'a>(context: &FindingContext<'a>) -> FindingRuling<'a> {
    let discussion = Discussion::read(context);
    let mut finding = context.finding();
    if context.reopened_at.is_some() {
        finding.accepted_by = None;
    }
    if let Some(resolution) = context.known.thread.and_then(|thread| thread.resolved.as_ref())
        && !is_fixing_side_resolution(context.facts, &resolution.by)
    {
        finding.remark = FindingRemark::ResolvedBy(resolution.by.display_name());
    }
    if let Some(note) = discussion.decisive {
        match context.read_acceptance(note) {
            Some(Acceptance::Counts) => return accept(context, finding, note),
            Some(Acceptance::NotPermitted) => {
                finding.needs_human_reason = Some("its author accepts a critical finding");
            }
            Some(Acceptance::TooInformal) | None => {}
        }
    }
    let finding = context.read_discussion(finding, discussion.person);
    match context.reported.position {
        Some(Position::Fixed) => judge_fixed(context, finding),
        Some(Position::Conceded) => judge_conceded(context, finding, &discussion),
        Some(Position::Worsened) => judge_worsened(context, finding),
        Some(Position::Stands | Position::StillThere) | None => match context.find_hint(&discussion) {
            Some(hint) => context.send_hint(finding, &hint),
            None => judge_upheld(context, finding, &discussion),
        },
    }
}

fn accept<'a>(context: &FindingContext<'a>, finding: JudgedFinding<'a>, note: &'a Note) -> FindingRuling<'a> {
    let finding = JudgedFinding {
        accepted_by: note.author.login.as_ref(),
        ..finding.settle(FindingState::Accepted, FindingChange::Settled)
    };
    let closed = context.close(finding, Rule::Accepted);
    if context.reported.severity <= context.known.severity {
        return closed;
    }
    // A less severe finding was accepted: its thread is closed, and a new one opens.
    let FindingRuling { finding, steps, .. } = closed;
    let mut reopened = settle_or_reopen(context, finding, FindingState::Accepted);
    reopened.steps.splice(0..0, steps);
    reopened
}

/// Settles a finding, unless the report raises it again after a fix, or as more severe (INC-10, D12).
fn settle_or_reopen<'a>(
    context: &FindingContext<'a>,
    finding: JudgedFinding<'a>,
    state: FindingState,
) -> FindingRuling<'a> {
    let reported = &context.reported;
    let worse = finding.severity < reported.severity;
    let broken = state == FindingState::Fixed && reported.raised.is_some();
    let head = &context.facts.snapshot.pull.head;
    match reported.raised.filter(|_| broken || worse) {
        Some(raised) => FindingRuling::from(JudgedFinding {
            state: FindingState::Open,
            counts: true,
            severity: reported.severity,
            head,
            path: raised.path.as_str(),
            line: raised.line,
            change: FindingChange::Raised,
            remark: FindingRemark::ReopenedIn(head),
            accepted_by: None,
            opens_thread: true,
            ..finding
        }),
        None => context.close(finding.settle(state, FindingChange::Unchanged), Rule::Settled),
    }
}

fn judge_fixed<'a>(context: &FindingContext<'a>, finding: JudgedFinding<'a>) -> FindingRuling<'a> {
    let tracked = context.known.track;
    let changed = match context.reported.statement {
        Some(said) => said.cited_changed || tracked.is_some_and(|tracked| tracked.changed),
        // Absence from a deterministic run. Its rules read the whole file: a missing `close` may be added far from the
        // `open` that was reported.
        None => tracked.is_some_and(|tracked| tracked.changed || tracked.file_changed),
    };
    let complete = context.report == ReportStatus::Complete;
    if complete && changed {
        return context.close(finding.settle(FindingState::Fixed, FindingChange::Fixed), Rule::Fixed);
    }
    let missing = if complete { "the code did not change" } else { "the report is incomplete" };
    let what = format!("resolve {}", finding.id);
    let why = Reason::new(Rule::Fixed).with_fact(missing);
    let finding = JudgedFinding { remark: FindingRemark::ClaimedFixed, ..finding };
    FindingRuling { finding, steps: Vec::new(), refused: Some(Refusal { what, why }) }
}

fn judge_conceded<'a>(
    context: &FindingContext<'a>,
    finding: JudgedFinding<'a>,
    discussion: &Discussion<'a>,
) -> FindingRuling<'a> {
    let disputes = |note: &&Note| note.text.reading.stance == Stance::Disputed;
    let Some(note) = [discussion.decisive, discussion.last].into_iter().flatten().find(disputes) else {
        return FindingRuling::from(finding);
    };
    if !context.may_be_accepted_by(note) {
        let needs_human_reason = Some("the reviewer concedes to somebody who may not accept it");
        return FindingRuling::from(JudgedFinding { needs_human_reason, ..finding });
    }
    if note.edited || finding.severity == Severity::Critical {
        let reason = if note.edited { HintReason::Edited } else { HintReason::Conceded };
        return match context.hint_about(note, reason) {
            Some(hint) => context.send_hint(finding, &hint),
            None => FindingRuling::from(finding),
        };
    }
    let finding = JudgedFinding {
        accepted_by: note.author.login.as_ref(),
        ..finding.settle(FindingState::Refuted, FindingChange::Settled)
    };
    context.close(finding, Rule::Conceded)
}

fn judge_worsened<'a>(context: &FindingContext<'a>, finding: JudgedFinding<'a>) -> FindingRuling<'a> {
    let severity = context.reported.severity;
    let finding = JudgedFinding { severity, change: FindingChange::Worsened, ..finding };
    let Some(thread) = context.open_thread() else { return FindingRuling::from(finding) };
    let head = &context.facts.snapshot.pull.head;
    let replied = own_reply_kinds(context.role, thread).any(|(kind, at)| kind == ReplyKind::Worsened && at == head);
    let root = thread.root().and_then(|root| root.text.trusted_tag());
    if replied || root.is_some_and(|tag| tag.head == *head) {
        return FindingRuling::from(finding);
    }
    let words = context.reported.statement.map_or("", |said| said.evidence.as_str());
    let reply = ThreadReply::Worsened { severity, words };
    context.reply(finding, thread, reply, Rule::Worsened)
}

fn judge_upheld<'a>(
    context: &FindingContext<'a>,
    finding: JudgedFinding<'a>,
    discussion: &Discussion<'a>,
) -> FindingRuling<'a> {
    let open = context.reported.position.and(context.open_thread());
    let Some(thread) = open else { return FindingRuling::from(finding) };
    // Without a report, the notes of outsiders wait for the next review (D30).
    let note = match context.report {
        ReportStatus::Absent => context.facts.find_unanswered_note(thread),
        _ => discussion.last,
    };
    let Some(note) = note.filter(|note| context.is_after_reopening(Some(note.at))) else {
        return FindingRuling::from(finding);
    };
    // Notes of other programs after it do not answer it (D31).
    let later = thread.notes.iter().rev().take_while(|later| later.id != note.id);
    if later.into_iter().any(|later| context.facts.is_own_author(&later.author)) {
        return FindingRuling::from(finding);
    }
    if context.is_answered_at_head(thread) {
        return FindingRuling::from(finding);
    }
    let statement = context.reported.statement;
    let stands = context.reported.position == Some(Position::Stands) && finding.needs_human_reason.is_none();
    let by_rule = context.role.is_deterministic() && finding.needs_human_reason.is_none();
    match (note.text.reading.stance, statement.filter(|said| !said.reply.is_empty())) {
        (Stance::Disputed, Some(said)) if stands => {
            context.reply(finding, thread, ThreadReply::Rebuttal { words: &said.reply }, Rule::Rebuttal)
        }
        (Stance::Disputed | Stance::Asked, None) if by_rule => context.reply_from_rule(finding, thread),
        (Stance::ClaimedFixed, _) => {
            let words = statement.map_or("", |said| said.evidence.as_str());
            let reply = ThreadReply::Contest { path: finding.path, line: finding.line, words };
            context.reply(finding, thread, reply, Rule::Contest)
        }
        _ => FindingRuling::from(finding),
    }
}

impl<'a> FindingContext<'a> {
    /// Rules that the finding is settled, with the steps that close its thread.
    fn close(&self, finding: JudgedFinding<'a>, rule: Rule) -> FindingRuling<'a> {
        let steps = plan_closing(self.facts, self.role, &finding, rule);
        FindingRuling { finding, steps, refused: None }
    }

    fn send_hint(&self, finding: JudgedFinding<'a>, hint: &AcceptanceHint<'_>) -> FindingRuling<'a> {
        let bot = &self.facts.snapshot.viewer.login;
        let reply = ThreadReply::Hint { finding: finding.id, reason: hint.reason, bot };
        self.reply(finding, hint.thread, reply, Rule::AcceptanceHint)
    }

    fn reply_from_rule(&self, finding: JudgedFinding<'a>, thread: &Thread) -> FindingRuling<'a> {
        let reply = ThreadReply::FromRule { path: finding.path, line: finding.line, words: finding.detail.body };
        self.reply(finding, thread, reply, Rule::RuleStands)
    }

    fn reply(
        &self,
        finding: JudgedFinding<'a>,
        thread: &Thread,
        reply: ThreadReply<'_>,
        rule: Rule,
    ) -> FindingRuling<'a> {
        let steps = plan_reply(self.facts, self.role, thread, reply, rule).into_iter().collect();
        FindingRuling { finding, steps, refused: None }
    }
}

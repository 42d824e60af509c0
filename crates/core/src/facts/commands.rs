//! People's commands that count (LOOP-12).
//!
//! | command | who | holds |
//! |---|---|---|
//! | `explain`, `help` | anyone but bots | – |
//! | `review`, `full review`, `retry` | write access | at the head of its moment |
//! | `dismiss`, `reopen` | write access; `dismiss` not the pull's author | until taken back |
//! | `pause`, `resume` | write access | until taken back |
//! | `rounds +N` | the operator | till the next reopen |
//! | `break-glass` | `break_glass.who`, by default the operator | at the change of its moment |
//! | anything else | write access gets one hint | – |

use crate::mark::{TagKind, Topic};
use crate::model::{Author, FindingId, Login, RoleName, Snapshot, Time};
use crate::policy::Policy;
use crate::say::{Ask, Named};

/// A command that somebody gave.
#[derive(Clone, Copy, Debug)]
pub struct UserCommand<'a> {
    /// What.
    pub ask: &'a Ask,
    /// Who.
    pub by: &'a Author,
    /// When.
    pub at: Time,
    /// In which comment or note.
    pub source_id: &'a str,
    /// They may ask for it.
    pub allowed: bool,
}

/// That the glass is broken at this change.
#[derive(Clone, Copy, Debug)]
pub struct BreakGlass<'a> {
    pub by: &'a Author,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub at: Time,
}

pub(super) fn collect_commands<'a>(snapshot: &'a Snapshot, policy: &Policy, own: &[&Login]) -> Vec<UserCommand<'a>> {
    let comments = snapshot.comments.iter().map(|it| (it.id.as_str(), &it.author, it.at, it.edited, &it.text));
    let notes = snapshot
        .threads
        .iter()
        .flat_map(|thread| &thread.notes)
        .map(|it| (it.id.as_str(), &it.author, it.at, it.edited, &it.text));
    let mut said: Vec<_> = comments
        .chain(notes)
        // Most texts command nothing.
        .filter_map(|(id, by, at, edited, text)| Some((id, by, at, text.ask().filter(|_| !edited && !by.bot)?)))
        .filter(|(_, by, _, _)| !by.login.as_ref().is_some_and(|login| own.contains(&login)))
        .map(|(id, by, at, ask)| UserCommand {
            ask,
            by,
            at,
            source_id: id,
            allowed: is_allowed(snapshot, policy, ask, by),
        })
        .collect();
    said.sort_by_key(|said| said.at);
    said
}

fn is_allowed(snapshot: &Snapshot, policy: &Policy, ask: &Ask, by: &Author) -> bool {
    let is_author = by.login.is_some() && by.login == snapshot.pull.author.login;
    match ask {
        Ask::Explain | Ask::Help => true,
        Ask::Rounds { .. } => by.login.as_ref().is_some_and(|login| policy.is_operator(login)),
        Ask::BreakGlass { .. } => by.login.as_ref().is_some_and(|login| policy.may_break_glass(login)),
        Ask::Dismiss { .. } => by.may_write() && (!is_author || policy.author_may_accept),
        Ask::Review
        | Ask::FullReview
        | Ask::Reopen { .. }
        | Ask::Retry
        | Ask::Pause
        | Ask::Resume
        | Ask::Unknown { .. } => by.may_write(),
    }
}

pub(super) fn find_break_glass<'a>(snapshot: &'a Snapshot, said: &[UserCommand<'a>]) -> Option<BreakGlass<'a>> {
    let broken = said.iter().rev().filter(|said| said.allowed).find_map(|said| match said.ask {
        Ask::BreakGlass { reason } => Some(BreakGlass { by: said.by, reason, at: said.at }),
        _ => None,
    })?;
    let audits = || {
        snapshot.comments.iter().filter_map(|comment| match &comment.text.trusted_tag()?.kind {
            TagKind::Topic(Topic::Glass { patch }) => Some((comment.at, patch)),
            _ => None,
        })
    };
    let carried = audits().any(|(_, patch)| *patch == snapshot.changes.patch);
    // Clocks count seconds: what was pushed in the second of the command is told apart by what was audited since.
    let elsewhere = || audits().any(|(at, _)| broken.at <= at);
    (carried || (snapshot.pull.head_since <= broken.at && !elsewhere())).then_some(broken)
}

pub(super) fn find_pauser<'a>(said: &[UserCommand<'a>]) -> Option<&'a Author> {
    let last =
        said.iter().rev().filter(|said| said.allowed).find(|said| matches!(said.ask, Ask::Pause | Ask::Resume))?;
    matches!(last.ask, Ask::Pause).then_some(last.by)
}

pub(super) fn count_extra_rounds(snapshot: &Snapshot, said: &[UserCommand<'_>]) -> u32 {
    let since = snapshot.pull.reopened_at();
    said.iter()
        .filter(|said| said.allowed && since.is_none_or(|reopened| reopened <= said.at))
        .map(|said| match said.ask {
            Ask::Rounds { more } => *more,
            _ => 0,
        })
        .fold(0, u32::saturating_add)
}

pub(super) fn compute_operator_epoch(snapshot: &Snapshot, said: &[UserCommand<'_>]) -> u32 {
    let answers =
        said.iter().filter(|said| said.allowed && matches!(said.ask, Ask::Rounds { .. } | Ask::Retry | Ask::Resume));
    u32::try_from(snapshot.pull.reopens.len() + answers.count()).unwrap_or(u32::MAX)
}

impl super::Facts<'_> {
    /// The latest ask for another look at this head (D2).
    pub fn review_requested_at(&self) -> Option<Time> {
        self.last_review_command().map(|said| said.at)
    }

    /// Whether the latest ask for another look wants everything.
    pub fn is_full_review_requested(&self) -> bool {
        self.last_review_command().is_some_and(|said| matches!(said.ask, Ask::FullReview))
    }

    /// The latest ask to try a failed reviewer again at this head.
    pub fn retry_requested_at(&self) -> Option<Time> {
        self.find_last_command_at_head(|ask| matches!(ask, Ask::Retry)).map(|said| said.at)
    }

    /// The latest ask of either kind at this head: whatever is evaluated now answers it.
    pub fn last_request_at(&self) -> Option<Time> {
        self.review_requested_at().max(self.retry_requested_at())
    }

    /// Returns the latest `review` or `full review` command at this head.
    pub fn last_review_command(&self) -> Option<&UserCommand<'_>> {
        self.find_last_command_at_head(|ask| matches!(ask, Ask::Review | Ask::FullReview))
    }

    /// The latest of those at this head, by one who may.
    fn find_last_command_at_head(&self, wanted: impl Fn(&Ask) -> bool) -> Option<&UserCommand<'_>> {
        let since = self.snapshot.pull.head_since;
        self.commands.iter().rev().find(|said| said.allowed && since <= said.at && wanted(said.ask))
    }

    /// The last command about a finding by one who may: `dismiss` or `reopen`.
    pub fn find_last_command_on_finding(&self, role: &RoleName, id: FindingId) -> Option<&UserCommand<'_>> {
        let names =
            |named: &[Named]| named.iter().any(|it| it.id == id && it.role.as_ref().is_none_or(|named| named == role));
        self.commands.iter().rev().filter(|said| said.allowed).find(|said| match said.ask {
            Ask::Dismiss { findings, .. } | Ask::Reopen { findings } => names(findings),
            _ => false,
        })
    }
}

impl UserCommand<'_> {
    /// When `reopen` was said, if it was.
    pub fn reopened_at(&self) -> Option<Time> {
        matches!(self.ask, Ask::Reopen { .. }).then_some(self.at)
    }

    /// Whether `dismiss` was said.
    pub fn is_dismissal(&self) -> bool {
        matches!(self.ask, Ask::Dismiss { .. })
    }
}

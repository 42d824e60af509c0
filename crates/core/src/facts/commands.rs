//! People's commands (LOOP-12).
//!
//! | command | who may give it | effective |
//! |---|---|---|
//! | `explain`, `help` | anybody except bots | – |
//! | `review`, `full review`, `retry` | write access | at the head when it was given |
//! | `dismiss`, `reopen` | write access; `dismiss` not the pull's author | until revoked |
//! | `pause`, `resume` | write access | until revoked |
//! | `rounds +N` | the operator | until the next reopen |
//! | `break-glass` | `break_glass.who`, by default the operator | at the change when it was given |
//! | anything else | write access; gets one hint | – |

use crate::mark::{TagKind, Topic};
use crate::model::{Author, FindingId, Login, RoleName, Snapshot, Time};
use crate::policy::Policy;
use crate::say::{Ask, Named};

#[derive(Clone, Copy, Debug)]
pub struct UserCommand<'a> {
    pub ask: &'a Ask,
    pub by: &'a Author,
    pub at: Time,
    /// The id of the comment or note.
    pub source_id: &'a str,
    /// The person may give this command, and did not edit it.
    pub allowed: bool,
    /// The text was edited, so the command does not count (D40).
    pub edited: bool,
}

/// Break-glass, active at this change.
#[derive(Clone, Copy, Debug)]
pub struct BreakGlass<'a> {
    pub by: &'a Author,
    pub reason: &'a str,
    pub at: Time,
}

pub(super) fn collect_commands<'a>(snapshot: &'a Snapshot, policy: &Policy, own: &[&Login]) -> Vec<UserCommand<'a>> {
    let comments = snapshot.comments.iter().map(|it| (it.id.as_str(), &it.author, it.at, it.edited, &it.text));
    let notes = snapshot
        .threads
        .iter()
        .flat_map(|thread| &thread.notes)
        .map(|it| (it.id.as_str(), &it.author, it.at, it.edited, &it.text));
    let mut commands: Vec<_> = comments
        .chain(notes)
        // Most texts contain no command.
        .filter_map(|(id, by, at, edited, text)| Some((id, by, at, edited, text.ask().filter(|_| !by.bot)?)))
        .filter(|(_, by, ..)| !by.login.as_ref().is_some_and(|login| own.contains(&login)))
        .map(|(id, by, at, edited, ask)| UserCommand {
            ask,
            by,
            at,
            source_id: id,
            allowed: !edited && is_permitted(snapshot, policy, ask, by),
            edited,
        })
        .collect();
    commands.sort_by_key(|command| command.at);
    commands
}

/// Returns whether a person may give a command.
pub(crate) fn is_permitted(snapshot: &Snapshot, policy: &Policy, ask: &Ask, by: &Author) -> bool {
    let is_author = by.login.is_some() && by.login == snapshot.pull.author.login;
    match ask {
        Ask::Explain | Ask::Help => true,
        Ask::Rounds { .. } => by.login.as_ref().is_some_and(|login| policy.is_operator(login)),
        Ask::BreakGlass { .. } => by.login.as_ref().is_some_and(|login| policy.may_break_glass(login)),
        Ask::Dismiss { .. } | Ask::DismissOverflow { .. } => by.may_write() && (!is_author || policy.author_may_accept),
        Ask::Review
        | Ask::FullReview
        | Ask::Reopen { .. }
        | Ask::Retry
        | Ask::Pause
        | Ask::Resume
        | Ask::Unknown { .. } => by.may_write(),
    }
}

pub(super) fn find_break_glass<'a>(snapshot: &'a Snapshot, commands: &[UserCommand<'a>]) -> Option<BreakGlass<'a>> {
    let broken = commands.iter().rev().filter(|command| command.allowed).find_map(|command| match command.ask {
        Ask::BreakGlass { reason } => Some(BreakGlass { by: command.by, reason, at: command.at }),
        _ => None,
    })?;
    let audits = || {
        snapshot.comments.iter().filter_map(|comment| match &comment.text.trusted_tag()?.kind {
            TagKind::Topic(Topic::Glass { patch }) => Some((comment.at, patch)),
            _ => None,
        })
    };
    let carried = audits().any(|(_, patch)| *patch == snapshot.changes.patch);
    // Timestamps have a resolution of one second. A push in the same second as the command is recognised by an audit
    //  comment for another change.
    let audited_since = || audits().any(|(at, _)| broken.at <= at);
    (carried || (snapshot.pull.head_since <= broken.at && !audited_since())).then_some(broken)
}

/// Returns who paused referee on the pull: by a command, or by one that referee confirmed before it was edited or deleted
/// (D40). If the command was deleted, the account of the confirmation stands for its author.
pub(super) fn find_pauser<'a>(
    snapshot: &'a Snapshot,
    commands: &[UserCommand<'a>],
    own: &[&Login],
) -> Option<&'a Author> {
    let given = commands.iter().filter(|command| command.allowed).filter_map(|command| match command.ask {
        Ask::Pause => Some((command.at, true, command.by)),
        Ask::Resume => Some((command.at, false, command.by)),
        _ => None,
    });
    let is_own = |author: &Author| author.login.as_ref().is_some_and(|login| own.contains(&login));
    let confirmed = snapshot.comments.iter().filter(|comment| is_own(&comment.author)).filter_map(|comment| {
        let TagKind::Topic(Topic::PauseSet { to, paused }) = &comment.text.trusted_tag()?.kind else { return None };
        let command = snapshot.comments.iter().find(|command| command.id.as_str() == to).unwrap_or(comment);
        Some((command.at, *paused, &command.author))
    });
    let (_, paused, by) = given.chain(confirmed).max_by_key(|(at, ..)| *at)?;
    paused.then_some(by)
}

pub(super) fn count_extra_rounds(snapshot: &Snapshot, commands: &[UserCommand<'_>]) -> u32 {
    let since = snapshot.pull.reopened_at();
    commands
        .iter()
        .filter(|command| command.allowed && since.is_none_or(|reopened| reopened <= command.at))
        .map(|command| match command.ask {
            Ask::Rounds { more } => *more,
            _ => 0,
        })
        .fold(0, u32::saturating_add)
}

pub(super) fn compute_operator_epoch(snapshot: &Snapshot, commands: &[UserCommand<'_>]) -> u32 {
    let answers = commands
        .iter()
        .filter(|command| command.allowed && matches!(command.ask, Ask::Rounds { .. } | Ask::Retry | Ask::Resume));
    u32::try_from(snapshot.pull.reopens.len() + answers.count()).unwrap_or(u32::MAX)
}

impl super::Facts<'_> {
    /// Returns when another review of this head was last requested (D2).
    pub fn review_requested_at(&self) -> Option<Time> {
        self.last_review_command().map(|command| command.at)
    }

    /// Returns whether the latest request wants a full review.
    pub fn is_full_review_requested(&self) -> bool {
        self.last_review_command().is_some_and(|command| matches!(command.ask, Ask::FullReview))
    }

    /// Returns when a retry of a failed reviewer at this head was last requested.
    pub fn retry_requested_at(&self) -> Option<Time> {
        self.find_last_command_at_head(|ask| matches!(ask, Ask::Retry)).map(|command| command.at)
    }

    /// Returns the latest request of either kind at this head; the next evaluation answers it.
    pub fn last_request_at(&self) -> Option<Time> {
        self.review_requested_at().max(self.retry_requested_at())
    }

    /// Returns the latest `review` or `full review` command at this head.
    pub fn last_review_command(&self) -> Option<&UserCommand<'_>> {
        self.find_last_command_at_head(|ask| matches!(ask, Ask::Review | Ask::FullReview))
    }

    /// Returns the latest permitted command at this head that matches.
    fn find_last_command_at_head(&self, wanted: impl Fn(&Ask) -> bool) -> Option<&UserCommand<'_>> {
        let since = self.snapshot.pull.head_since;
        self.commands.iter().rev().find(|command| command.allowed && since <= command.at && wanted(command.ask))
    }

    /// Returns whether a person dismissed the overflow at this head (D33). What a later head adds counts again.
    pub fn is_overflow_dismissed(&self) -> bool {
        self.find_last_command_at_head(|ask| matches!(ask, Ask::DismissOverflow { .. })).is_some()
    }

    /// Returns the latest permitted `dismiss` or `reopen` of a finding.
    pub fn find_last_command_on_finding(&self, role: &RoleName, id: FindingId) -> Option<&UserCommand<'_>> {
        let names =
            |named: &[Named]| named.iter().any(|it| it.id == id && it.role.as_ref().is_none_or(|named| named == role));
        self.commands.iter().rev().filter(|command| command.allowed).find(|command| match command.ask {
            Ask::Dismiss { findings, .. } | Ask::Reopen { findings } => names(findings),
            _ => false,
        })
    }
}

impl UserCommand<'_> {
    /// Returns the time of the command if it is `reopen`.
    pub fn reopened_at(&self) -> Option<Time> {
        matches!(self.ask, Ask::Reopen { .. }).then_some(self.at)
    }

    pub fn is_dismissal(&self) -> bool {
        matches!(self.ask, Ask::Dismiss { .. })
    }
}

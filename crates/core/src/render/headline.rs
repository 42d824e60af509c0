//! The first line of a summary. Other programs read it, so its grammar is fixed:
//!
//! ```text
//! line  = "**" state "**" *( " · " part )
//! part  = reason | counts | "`" short sha "`" | tail          (in this order)
//! counts = number " blocking" *( ", " number " " severity )
//! ```
//!
//! | state | when (first match) | reason | tail |
//! |---|---|---|---|
//! | `Glass broken` | somebody broke the glass (D25) | by whom | `until the next change` |
//! | `Not reviewed` | an own verdict counts at a head that nobody read, and nothing known blocks (PUB-6, PUB-15) | that, or how it failed | `the next verdict lifts this` |
//! | `Changes requested` | the own verdict blocks | – | `round 2 of 3` |
//! | `Changes requested` | a sibling blocks (PUB-7) | `held by security` | `read 15 of 15 files` |
//! | `Changes requested` | the own block stays (PUB-6) | that, and who is waited for | `read …` |
//! | `Not reviewed` | the reviewer failed (INC-15) | `security failed twice (…)` | `this approves nothing`, how to retry |
//! | `Not fully reviewed` | the report is incomplete | what is missing | `this approves nothing`, how to ask again |
//! | `Approved` | an approval that is enforced, in the form of one | – | `read …` |
//! | `Nothing blocking` | otherwise | who is waited for (D19) | `read …` |

use super::phrase::{command, name, names, severity};
use super::{Summary, Why};
use crate::model::{Severity, Verdict};
use crate::sanitise::Page;

/// The rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State<'a> {
    Glass { by: &'a str, reason: &'a str },
    Unread,
    Blocks,
    Held { by: &'a str },
    BlockStays,
    Failed,
    Incomplete,
    Approved,
    Clear,
}

/// Writes the line.
pub(super) fn headline(page: &mut Page, summary: &Summary<'_>) {
    let state = State::of(summary);
    page.lit("**").lit(state.word()).lit("**");
    reason(page, summary, state);
    counts(page, summary, state);
    page.lit(" · ").code(summary.head.short());
    tail(page, summary, state);
}

impl<'a> State<'a> {
    pub(super) fn of(summary: &Summary<'a>) -> Self {
        let glass = summary.why.iter().find_map(|why| match why {
            Why::Glass { by, reason } => Some(Self::Glass { by, reason }),
            _ => None,
        });
        let held = held_by(summary).filter(|_| summary.enforced == Verdict::RequestChanges);
        if let Some(glass) = glass {
            glass
        } else if summary.why.contains(&Why::Unread) {
            Self::Unread
        } else if summary.own == Verdict::RequestChanges {
            Self::Blocks
        } else if let Some(by) = held {
            Self::Held { by }
        } else if summary.why.contains(&Why::BlockStays) {
            Self::BlockStays
        } else if !summary.complete && failed(summary) {
            Self::Failed
        } else if !summary.complete {
            Self::Incomplete
        } else if summary.enforced == Verdict::Approve && summary.form == Verdict::Approve {
            Self::Approved
        } else {
            Self::Clear
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Glass { .. } => "Glass broken",
            Self::Unread | Self::Failed => "Not reviewed",
            Self::Blocks | Self::Held { .. } | Self::BlockStays => "Changes requested",
            Self::Incomplete => "Not fully reviewed",
            Self::Approved => "Approved",
            Self::Clear => "Nothing blocking",
        }
    }
}

/// A report that failed read nothing; one that is merely incomplete may follow failed attempts.
fn failed(summary: &Summary<'_>) -> bool {
    summary.attempts > 0 && summary.evaluation.read == 0
}

/// The sibling that blocks.
fn held_by<'a>(summary: &Summary<'a>) -> Option<&'a str> {
    summary.why.iter().find_map(|why| match why {
        Why::Escalated { by } => Some(by.as_str()),
        _ => None,
    })
}

/// `security failed twice (model timeout)`, or `incomplete: no coverage`.
fn shortcoming(page: &mut Page, summary: &Summary<'_>, state: State<'_>) {
    let why = summary.evaluation.failure.as_deref().unwrap_or_default();
    if failed(summary) {
        name(page, summary.role.as_str());
        match summary.attempts {
            1 => page.lit(" failed"),
            2 => page.lit(" failed twice"),
            n => page.lit(" failed ").num(n).lit(" times"),
        };
        if !why.is_empty() {
            page.lit(" (").safe(&super::failure(why)).lit(")");
        }
    } else if state == State::Incomplete && !why.is_empty() {
        page.safe(&super::failure(why));
    } else {
        page.lit("incomplete");
        if !why.is_empty() {
            page.lit(": ").safe(&super::failure(why));
        }
    }
}

pub(super) fn reason(page: &mut Page, summary: &Summary<'_>, state: State<'_>) {
    match state {
        State::Glass { by, .. } => {
            page.lit(" · by ");
            name(page, by);
        }
        State::Unread => {
            page.lit(" · nobody has read this head");
        }
        State::BlockStays => {
            page.lit(" · nothing blocking any more, the block stays until this review approves");
        }
        _ => {
            if let Some(by) = held_by(summary) {
                page.lit(" · held by ");
                name(page, by);
            }
        }
    }
    let waited_for = summary.why.iter().find_map(|why| match why {
        Why::Waiting { on } => Some(on),
        _ => None,
    });
    if let Some(on) = waited_for.filter(|on| !on.is_empty()) {
        page.lit(" · waiting for ");
        names(page, on.iter().copied());
    }
    // Where the head moved under an approval nobody tried yet: there is no shortcoming to tell.
    if !summary.complete && (state != State::Unread || summary.evaluation.failure.is_some()) {
        page.lit(" · ");
        shortcoming(page, summary, state);
    }
}

pub(super) fn counts(page: &mut Page, summary: &Summary<'_>, state: State<'_>) {
    let blocking = summary.open.iter().filter(|line| line.blocking).count();
    let mut glue = " · ";
    if blocking > 0 {
        page.lit(glue).num(blocking).lit(" blocking");
        if matches!(state, State::Glass { .. }) {
            page.lit(" but not enforced");
        }
        glue = ", ";
    }
    for grave in [Severity::Critical, Severity::Warning, Severity::Suggestion] {
        let n = summary.open.iter().filter(|line| !line.blocking && line.severity == grave).count();
        if n > 0 {
            page.lit(glue);
            severities(page, n, grave);
            glue = ", ";
        }
    }
}

/// `1 critical`, `2 warnings`: "critical" is no noun.
pub(super) fn severities(page: &mut Page, n: usize, grave: Severity) {
    page.num(n).lit(" ").lit(severity(grave));
    if n != 1 && grave != Severity::Critical {
        page.lit("s");
    }
}

fn tail(page: &mut Page, summary: &Summary<'_>, state: State<'_>) {
    match state {
        State::Glass { .. } => {
            page.lit(" · until the next change");
        }
        State::Unread => {
            page.lit(" · the next verdict lifts this");
        }
        State::Blocks => {
            page.lit(" · round ").num(summary.round).lit(" of ").num(summary.rounds);
        }
        State::Failed => {
            page.lit(" · this approves nothing · ");
            command(page, summary.bot, "retry");
        }
        State::Incomplete => {
            page.lit(" · this approves nothing · ");
            command(page, summary.bot, "review");
        }
        State::Held { .. } | State::BlockStays | State::Approved | State::Clear => {
            if summary.evaluation.of > 0 {
                page.lit(" · read ").num(summary.evaluation.read).lit(" of ").num(summary.evaluation.of).lit(" files");
            }
        }
    }
}

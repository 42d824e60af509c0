//! Renders the first line of a summary. Other programs parse it, so its grammar is fixed:
//!
//! ```text
//! line  = "**" state "**" *( " · " part )
//! part  = reason | counts | "`" short sha "`" | tail          (in this order)
//! counts = number " blocking" *( ", " number " " severity )
//! ```
//!
//! | state | when (first match) | reason | tail |
//! |---|---|---|---|
//! | `Glass broken` | break-glass is active (D25) | by whom | `until the next change` |
//! | `Not reviewed` | an approval counts at a head that was not read, and no known finding blocks (PUB-6, PUB-15) | that, or how it failed | `the next verdict lifts this` |
//! | `Changes requested` | the role's own verdict blocks | – | `round 2 of 3` |
//! | `Changes requested` | a sibling blocks (PUB-7) | `held by security` | `read 15 of 15 files` |
//! | `Changes requested` | the role's block stays (PUB-6) | that, and who is awaited | `read …` |
//! | `Not reviewed` | the reviewer failed (INC-15) | `security failed twice (…)` | `this approves nothing`, how to retry |
//! | `Not fully reviewed` | the report is incomplete | what is missing | `this approves nothing`, how to ask again |
//! | `Approved` | an enforced approval, posted as one | – | `read …` |
//! | `Nothing blocking` | otherwise | who is awaited (D19) | `read …` |

use super::phrase::{severity_name, write_command, write_name, write_names};
use super::{Summary, SummaryNote};
use crate::model::{Severity, Verdict};
use crate::sanitise::MarkdownBuilder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadlineState<'a> {
    GlassBroken { by: &'a str, reason: &'a str },
    HeadUnread,
    Blocks,
    HeldBySibling { by: &'a str },
    BlockStays,
    Failed,
    Incomplete,
    Approved,
    NothingBlocking,
}

pub(super) fn write_headline(page: &mut MarkdownBuilder, summary: &Summary<'_>) {
    let state = HeadlineState::from_summary(summary);
    page.literal("**").literal(state.label()).literal("**");
    write_reason(page, summary, state);
    write_counts(page, summary, state);
    page.literal(" · ").code_span(summary.head.short());
    write_tail(page, summary, state);
}

impl<'a> HeadlineState<'a> {
    pub(super) fn from_summary(summary: &Summary<'a>) -> Self {
        let glass = summary.notes.iter().find_map(|why| match why {
            SummaryNote::GlassBroken { by, reason } => Some(Self::GlassBroken { by, reason }),
            _ => None,
        });
        let held = find_blocking_sibling(summary).filter(|_| summary.enforced_verdict == Verdict::RequestChanges);
        if let Some(glass) = glass {
            glass
        } else if summary.notes.contains(&SummaryNote::HeadUnread) {
            Self::HeadUnread
        } else if summary.own_verdict == Verdict::RequestChanges {
            Self::Blocks
        } else if let Some(by) = held {
            Self::HeldBySibling { by }
        } else if summary.notes.contains(&SummaryNote::BlockStays) {
            Self::BlockStays
        } else if !summary.complete && has_failed(summary) {
            Self::Failed
        } else if !summary.complete {
            Self::Incomplete
        } else if summary.enforced_verdict == Verdict::Approve && summary.posted_verdict == Verdict::Approve {
            Self::Approved
        } else {
            Self::NothingBlocking
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::GlassBroken { .. } => "Glass broken",
            Self::HeadUnread | Self::Failed => "Not reviewed",
            Self::Blocks | Self::HeldBySibling { .. } | Self::BlockStays => "Changes requested",
            Self::Incomplete => "Not fully reviewed",
            Self::Approved => "Approved",
            Self::NothingBlocking => "Nothing blocking",
        }
    }
}

/// Returns whether the last run failed and read nothing. An incomplete report may also follow failed attempts.
fn has_failed(summary: &Summary<'_>) -> bool {
    summary.attempts > 0 && summary.evaluation.read == 0
}

/// Returns the name of the sibling role that blocks.
fn find_blocking_sibling<'a>(summary: &Summary<'a>) -> Option<&'a str> {
    summary.notes.iter().find_map(|why| match why {
        SummaryNote::Escalated { by } => Some(by.as_str()),
        _ => None,
    })
}

/// Writes `security failed twice (model timeout)` or `incomplete: no coverage`.
fn write_shortcoming(page: &mut MarkdownBuilder, summary: &Summary<'_>, state: HeadlineState<'_>) {
    let why = summary.evaluation.failure.as_deref().unwrap_or_default();
    if has_failed(summary) {
        write_name(page, summary.role.as_str());
        match summary.attempts {
            1 => page.literal(" failed"),
            2 => page.literal(" failed twice"),
            n => page.literal(" failed ").number(n).literal(" times"),
        };
        if !why.is_empty() {
            page.literal(" (").safe_text(&super::render_failure(why)).literal(")");
        }
    } else if state == HeadlineState::Incomplete && !why.is_empty() {
        page.safe_text(&super::render_failure(why));
    } else {
        page.literal("incomplete");
        if !why.is_empty() {
            page.literal(": ").safe_text(&super::render_failure(why));
        }
    }
}

pub(super) fn write_reason(page: &mut MarkdownBuilder, summary: &Summary<'_>, state: HeadlineState<'_>) {
    match state {
        HeadlineState::GlassBroken { by, .. } => {
            page.literal(" · by ");
            write_name(page, by);
        }
        HeadlineState::HeadUnread => {
            page.literal(" · nobody has read this head");
        }
        HeadlineState::BlockStays => {
            page.literal(" · nothing blocking any more, the block stays until this review approves");
        }
        _ => {
            if let Some(by) = find_blocking_sibling(summary) {
                page.literal(" · held by ");
                write_name(page, by);
            }
        }
    }
    let waited_for = summary.notes.iter().find_map(|why| match why {
        SummaryNote::Waiting { on } => Some(on),
        _ => None,
    });
    if let Some(on) = waited_for.filter(|on| !on.is_empty()) {
        page.literal(" · waiting for ");
        write_names(page, on.iter().copied());
    }
    // After a push under an approval no review was tried yet: there is no failure to report.
    if !summary.complete && (state != HeadlineState::HeadUnread || summary.evaluation.failure.is_some()) {
        page.literal(" · ");
        write_shortcoming(page, summary, state);
    }
}

pub(super) fn write_counts(page: &mut MarkdownBuilder, summary: &Summary<'_>, state: HeadlineState<'_>) {
    let blocking = summary.open_findings.iter().filter(|line| line.blocking).count();
    let mut glue = " · ";
    if blocking > 0 {
        page.literal(glue).number(blocking).literal(" blocking");
        if matches!(state, HeadlineState::GlassBroken { .. }) {
            page.literal(" but not enforced");
        }
        glue = ", ";
    }
    for grave in [Severity::Critical, Severity::Warning, Severity::Suggestion] {
        let n = summary.open_findings.iter().filter(|line| !line.blocking && line.severity == grave).count();
        if n > 0 {
            page.literal(glue);
            write_severity_count(page, n, grave);
            glue = ", ";
        }
    }
}

/// Writes `1 critical` or `2 warnings`; "critical" has no plural.
pub(super) fn write_severity_count(page: &mut MarkdownBuilder, n: usize, grave: Severity) {
    page.number(n).literal(" ").literal(severity_name(grave));
    if n != 1 && grave != Severity::Critical {
        page.literal("s");
    }
}

fn write_tail(page: &mut MarkdownBuilder, summary: &Summary<'_>, state: HeadlineState<'_>) {
    match state {
        HeadlineState::GlassBroken { .. } => {
            page.literal(" · until the next change");
        }
        HeadlineState::HeadUnread => {
            page.literal(" · the next verdict lifts this");
        }
        HeadlineState::Blocks => {
            page.literal(" · round ").number(summary.round).literal(" of ").number(summary.max_rounds);
        }
        HeadlineState::Failed => {
            page.literal(" · this approves nothing · ");
            write_command(page, summary.bot, "retry");
        }
        HeadlineState::Incomplete => {
            page.literal(" · this approves nothing · ");
            write_command(page, summary.bot, "review");
        }
        HeadlineState::HeldBySibling { .. }
        | HeadlineState::BlockStays
        | HeadlineState::Approved
        | HeadlineState::NothingBlocking => {
            if summary.evaluation.of > 0 {
                page.literal(" · read ")
                    .number(summary.evaluation.read)
                    .literal(" of ")
                    .number(summary.evaluation.of)
                    .literal(" files");
            }
        }
    }
}

//! A role's summary, from its first line to its footer.
//!
//! ```text
//! first line                       `headline`: the consequence, in a fixed grammar
//! Evaluated against <short sha>    for the dispatch source's readers too (PUB-22)
//! Since <sha>: …                   what became of the findings since the last evaluation
//! notes                            why own verdict, enforced verdict and form differ
//! | Severity | Finding | Where |   blocking ones first, never cut
//! folds                            suggestions, accepted and pre-existing ones, coverage and cost
//! footer                           what people can say
//! ```

use super::coverage::coverage;
use super::findings::{accepted, findings, pre_existing};
use super::headline::headline;
use super::phrase::{command, ids, name};
use super::{Line, Summary, Why};
use crate::model::{FindingId, Login};
use crate::sanitise::{Page, SafeText};

/// The words of a role's summary. Equal inputs make equal words, and a clean review says so too (PUB-17).
pub fn summary(summary: &Summary<'_>) -> SafeText {
    let mut page = Page::new();
    headline(&mut page, summary);
    page.blank_line().lit("Evaluated against ").short_sha(summary.head).lit(" by ");
    name(&mut page, summary.role.as_str());
    if summary.ad_hoc {
        page.lit(", an ad hoc role that never blocks");
    }
    since(&mut page, summary);
    for why in summary.why {
        note(&mut page, why);
    }
    findings(&mut page, summary, FINDINGS);
    accepted(&mut page, summary, ACCEPTED);
    pre_existing(&mut page, summary, PRE_EXISTING);
    coverage(&mut page, summary);
    footer(&mut page, summary);
    page.finish()
}

/// `Since 41d0e77: 3 fixed (F1, F3, F5), 1 still open (F4), 1 new (F6), 1 accepted by bob (F2)`.
fn since(page: &mut Page, summary: &Summary<'_>) {
    let evaluation = summary.evaluation;
    let raised = |line: &&Line<'_>| evaluation.new.contains(&line.id);
    let fixed = &evaluation.fixed;
    let still: Vec<FindingId> = summary.open.iter().filter(|line| !raised(line)).map(|line| line.id).collect();
    let new: Vec<FindingId> = summary.open.iter().filter(raised).map(|line| line.id).collect();
    let Some(before) = &evaluation.since else {
        if !fixed.is_empty() || !summary.accepted.is_empty() {
            page.blank_line().lit("So far: ");
            told(page, fixed, &[], &[], summary.accepted);
        }
        return;
    };
    page.blank_line().lit("Since ").code(before.short()).lit(": ");
    if fixed.is_empty() && still.is_empty() && new.is_empty() && summary.accepted.is_empty() {
        page.lit("nothing found, nothing was open");
    } else {
        told(page, fixed, &still, &new, summary.accepted);
    }
}

fn told(page: &mut Page, fixed: &[FindingId], still: &[FindingId], new: &[FindingId], accepted: &[Line<'_>]) {
    let mut glue = "";
    for (which, word) in [(fixed, " fixed ("), (still, " still open ("), (new, " new (")] {
        if !which.is_empty() {
            page.lit(glue).num(which.len()).lit(word);
            ids(page, which.iter().copied());
            page.lit(")");
            glue = ", ";
        }
    }
    let mut people: Vec<Option<&Login>> = accepted.iter().map(|line| line.by).collect();
    people.sort_unstable();
    people.dedup();
    for by in people.into_iter().take(PEOPLE) {
        let theirs: Vec<FindingId> = accepted.iter().filter(|line| line.by == by).map(|line| line.id).collect();
        page.lit(glue).num(theirs.len()).lit(" accepted");
        if let Some(by) = by {
            page.lit(" by ");
            name(page, by.as_str());
        }
        page.lit(" (");
        ids(page, theirs.into_iter());
        page.lit(")");
        glue = ", ";
    }
}

/// What the first line does not tell.
fn note(page: &mut Page, why: &Why<'_>) {
    match why {
        Why::Glass { reason, .. } => {
            page.blank_line().lit("Reason given: ").safe(&SafeText::line(reason, 300));
            page.blank_line()
                .lit("Until the next change no reviewer and no worker starts here. A person's block still counts.");
        }
        Why::Restored { by } => {
            page.blank_line().lit("Posted again without a new review: the verdict had lost its weight through ");
            name(page, by);
            page.lit(".");
        }
        Why::AsComment { because } => {
            page.blank_line().lit("Posted as a comment: ").lit(because).lit(". The status carries the verdict.");
        }
        Why::Dismissed { by } => {
            page.blank_line().lit("Dismissed by ");
            name(page, by);
            page.lit(": respected, it is not posted again for this change.");
        }
        Why::Escalated { .. } | Why::Waiting { .. } | Why::BlockStays | Why::Unread | Why::NotAsked { .. } => {}
    }
}

fn footer(page: &mut Page, summary: &Summary<'_>) {
    page.blank_line().lit("<sub>");
    command(page, summary.bot, "explain");
    if let Some(first) = summary.open.first() {
        page.lit(" · ");
        command(page, summary.bot, &format!("dismiss {} <reason>", first.id));
    }
    page.lit(" · ");
    command(page, summary.bot, "help");
    page.lit("</sub>");
}

/// Mark and Block take 14 kB of the 60 kB that every forge takes; their frames, the folds and the footer the rest.
const FINDINGS: usize = 34_000;
const ACCEPTED: usize = 38_000;
const PRE_EXISTING: usize = 40_000;
const PEOPLE: usize = 10;

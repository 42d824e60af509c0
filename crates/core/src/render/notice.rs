//! Renders the notice about an edit that changed which findings block (PUB-18); forges do not notify about edits.

use super::SummaryFinding;
use super::phrase::{render_title, write_finding_ids, write_location};
use crate::model::{FindingId, Sha};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// The change of the set of blocking findings.
#[derive(Clone, Debug)]
pub struct BlockingNotice<'a> {
    pub head: &'a Sha,
    /// Findings that block now and did not before.
    pub newly_blocking: Vec<SummaryFinding<'a>>,
    /// Findings that blocked before and do not now.
    pub no_longer_blocking: Vec<FindingId>,
    /// The number of findings that block now, counting the new ones.
    pub blocking_count: usize,
    /// The address of the review.
    pub review_url: &'a str,
}

/// Renders the notice: new and removed blocking findings, and a link to the review.
pub fn render_notice(notice: &BlockingNotice<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    if notice.blocking_count == 0 {
        page.literal("**Nothing blocking any more**");
    } else {
        page.literal("**Blocking findings changed** · ").number(notice.blocking_count).literal(" blocking");
    }
    page.literal(" · ").code_span(notice.head.short());
    if !notice.no_longer_blocking.is_empty() {
        page.literal(" · gone: ");
        write_finding_ids(&mut page, notice.no_longer_blocking.iter().copied());
    }
    if !notice.review_url.is_empty() {
        page.literal(" · ").link_literal("the review", notice.review_url);
    }
    for (at, line) in notice.newly_blocking.iter().take(MAX_NEW_FINDINGS).enumerate() {
        page.literal(if at == 0 { "\n" } else { "" }).literal("\n- new: ");
        page.finding(line.id);
        page.literal(" ").safe_text(&render_title(line.title)).literal(" · ");
        write_location(&mut page, line.path, line.line, line.thread_url);
    }
    let more = notice.newly_blocking.len().saturating_sub(MAX_NEW_FINDINGS);
    if more > 0 {
        page.literal("\n- new: ").number(more).literal(" more");
    }
    page.finish()
}

const MAX_NEW_FINDINGS: usize = 5;

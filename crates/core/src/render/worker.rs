//! Renders a worker's self-review and fix plan, in the lines that tools of the dispatch source parse (PUB-22).

use crate::model::Sha;
pub use crate::model::answer::FixSubject;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// The fixing side's review of its own change.
#[derive(Clone, Debug)]
pub struct SelfReviewNote<'a> {
    pub head: &'a Sha,
    /// Nothing needs attention.
    pub clean: bool,
    /// The worker's notes on its self-review; untrusted.
    pub notes: &'a str,
}

/// Renders `Self-review against <sha>` with the full sha: a short one does not count as current (DSP-8).
pub fn render_self_review(review: &SelfReviewNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Self-review against ").sha(review.head);
    page.blank_line().literal(if review.clean { "Assessment: ✅ Clean" } else { "Assessment: ⚠️" });
    write_worker_text(&mut page, review.notes);
    page.finish()
}

/// The fixing side's plan.
#[derive(Clone, Debug)]
pub struct FixPlanNote<'a> {
    pub head: &'a Sha,
    pub items: Vec<FixPlanItem<'a>>,
}

#[derive(Clone, Debug)]
pub struct FixPlanItem<'a> {
    pub about: FixSubject,
    /// What the worker plans to do about the finding; untrusted.
    pub plan: &'a str,
}

/// Renders `Fix plan for <sha>`, one line per entry.
pub fn render_fix_plan(plan: &FixPlanNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Fix plan for ").sha(plan.head).literal("\n");
    for (at, item) in plan.items.iter().enumerate() {
        if page.len() > MAX_FIX_PLAN_BYTES {
            page.literal("\n- ").number(plan.items.len() - at).literal(" more");
            break;
        }
        page.literal("\n- ");
        match item.about {
            FixSubject::Finding(finding) => page.finding(finding),
            // As code: a bare `#4` would link to an issue.
            FixSubject::Row(row) => page.code_span(&format!("Finding #{row}")),
        };
        page.literal(": ").safe_text(&SafeText::sanitise_line(&neutralise_reserved_phrases(item.plan), 300));
    }
    page.finish()
}

/// Writes a worker's text.
pub(super) fn write_worker_text(page: &mut MarkdownBuilder, tainted: &str) {
    let tainted = tainted.trim();
    if !tainted.is_empty() {
        page.blank_line()
            .safe_text(&SafeText::sanitise_block(&neutralise_reserved_phrases(tainted), MAX_WORKER_TEXT_BYTES));
    }
}

/// Removes the phrases that tools parse from a worker's text: only referee may write them. Rows of another bot's table
/// are written as code, because a bare `#4` would link to an issue.
fn neutralise_reserved_phrases(words: &str) -> String {
    let mut cleaned = String::with_capacity(words.len());
    let mut rest = words;
    'words: while let Some(first) = rest.chars().next() {
        for (line, instead) in RESERVED_PHRASES {
            if let Some(after) = strip_prefix_ignore_case(rest, line) {
                cleaned.push_str(instead);
                rest = after;
                continue 'words;
            }
        }
        if let Some(after) = strip_prefix_ignore_case(rest, "finding #").filter(|_| !cleaned.ends_with('`')) {
            let digits = after.len() - after.trim_start_matches(|it: char| it.is_ascii_digit()).len();
            let (number, after) = after.split_at(digits);
            cleaned.push_str("`Finding #");
            cleaned.push_str(number);
            cleaned.push('`');
            rest = after;
            continue;
        }
        cleaned.push(first);
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    cleaned
}

fn strip_prefix_ignore_case<'a>(rest: &'a str, line: &str) -> Option<&'a str> {
    rest.get(..line.len()).filter(|start| start.eq_ignore_ascii_case(line)).and_then(|_| rest.get(line.len()..))
}

const RESERVED_PHRASES: [(&str, &str); 4] = [
    ("assessment:", "assessment"),
    ("self-review against", "self-review of"),
    ("evaluated against", "evaluated at"),
    ("fix plan", "fix-plan"),
];
const MAX_WORKER_TEXT_BYTES: usize = 8_000;
const MAX_FIX_PLAN_BYTES: usize = 40_000;

//! What a worker says through referee, in the lines that the dispatch source's readers know (PUB-22).

use crate::model::Sha;
pub use crate::model::answer::FixSubject;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// The fixing side's look at its own change.
#[derive(Clone, Debug)]
pub struct SelfReviewNote<'a> {
    /// Of which head.
    pub head: &'a Sha,
    /// Nothing needs attention.
    pub clean: bool,
    /// What it says; tainted.
    pub notes: &'a str,
}

/// `Self-review against <sha>` with the sha in full: only a full one is current (DSP-8).
pub fn render_self_review(review: &SelfReviewNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Self-review against ").sha(review.head);
    page.blank_line().literal(if review.clean { "Assessment: ✅ Clean" } else { "Assessment: ⚠️" });
    write_worker_text(&mut page, review.notes);
    page.finish()
}

/// What the fixing side means to do.
#[derive(Clone, Debug)]
pub struct FixPlanNote<'a> {
    /// At which head.
    pub head: &'a Sha,
    /// About which findings.
    pub items: Vec<FixPlanItem<'a>>,
}

/// One entry of a fix plan.
#[derive(Clone, Debug)]
pub struct FixPlanItem<'a> {
    /// About what.
    pub about: FixSubject,
    /// What to do; tainted.
    pub plan: &'a str,
}

/// `Fix plan for <sha>`, one line an entry.
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
            // As code: a bare `#4` is somebody's issue.
            FixSubject::Row(row) => page.code_span(&format!("Finding #{row}")),
        };
        page.literal(": ").safe_text(&SafeText::sanitise_line(&neutralise_reserved_phrases(item.plan), 300));
    }
    page.finish()
}

/// Writes what a worker says.
pub(super) fn write_worker_text(page: &mut MarkdownBuilder, tainted: &str) {
    let tainted = tainted.trim();
    if !tainted.is_empty() {
        page.blank_line()
            .safe_text(&SafeText::sanitise_block(&neutralise_reserved_phrases(tainted), MAX_WORKER_TEXT_BYTES));
    }
}

/// A worker's words without the lines that programs read: those are referee's alone. Rows of another bot's table
/// are told as code, since a bare `#4` is somebody's issue.
fn neutralise_reserved_phrases(words: &str) -> String {
    let mut told = String::with_capacity(words.len());
    let mut rest = words;
    'words: while let Some(first) = rest.chars().next() {
        for (line, instead) in RESERVED_PHRASES {
            if let Some(after) = strip_prefix_ignore_case(rest, line) {
                told.push_str(instead);
                rest = after;
                continue 'words;
            }
        }
        if let Some(after) = strip_prefix_ignore_case(rest, "finding #").filter(|_| !told.ends_with('`')) {
            let digits = after.len() - after.trim_start_matches(|it: char| it.is_ascii_digit()).len();
            let (number, after) = after.split_at(digits);
            told.push_str("`Finding #");
            told.push_str(number);
            told.push('`');
            rest = after;
            continue;
        }
        told.push(first);
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    told
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

//! What a worker says through referee, in the lines that the dispatch source's readers know (PUB-22).

use crate::model::Sha;
pub use crate::model::answer::About;
use crate::sanitise::{Page, SafeText};

/// The fixing side's look at its own change.
#[derive(Clone, Debug)]
pub struct SelfReview<'a> {
    /// Of which head.
    pub head: &'a Sha,
    /// Nothing needs attention.
    pub clean: bool,
    /// What it says; tainted.
    pub notes: &'a str,
}

/// `Self-review against <sha>` with the sha in full: only a full one is current (DSP-8).
pub fn self_review(review: &SelfReview<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit("Self-review against ").sha(review.head);
    page.blank_line().lit(if review.clean { "Assessment: ✅ Clean" } else { "Assessment: ⚠️" });
    told(&mut page, review.notes);
    page.finish()
}

/// What the fixing side means to do.
#[derive(Clone, Debug)]
pub struct FixPlan<'a> {
    /// At which head.
    pub head: &'a Sha,
    /// About which findings.
    pub items: Vec<Fix<'a>>,
}

/// One entry of a fix plan.
#[derive(Clone, Debug)]
pub struct Fix<'a> {
    /// About what.
    pub about: About,
    /// What to do; tainted.
    pub plan: &'a str,
}

/// `Fix plan for <sha>`, one line an entry.
pub fn fix_plan(plan: &FixPlan<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit("Fix plan for ").sha(plan.head).lit("\n");
    for (at, item) in plan.items.iter().enumerate() {
        if page.len() > LONGEST {
            page.lit("\n- ").num(plan.items.len() - at).lit(" more");
            break;
        }
        page.lit("\n- ");
        match item.about {
            About::Finding(finding) => page.finding(finding),
            // As code: a bare `#4` is somebody's issue.
            About::Row(row) => page.code(&format!("Finding #{row}")),
        };
        page.lit(": ").safe(&SafeText::line(&unspoken(item.plan), 300));
    }
    page.finish()
}

/// Writes what a worker says.
pub(super) fn told(page: &mut Page, tainted: &str) {
    let tainted = tainted.trim();
    if !tainted.is_empty() {
        page.blank_line().safe(&SafeText::block(&unspoken(tainted), WORDS));
    }
}

/// A worker's words without the lines that programs read: those are referee's alone. Rows of another bot's table
/// are told as code, since a bare `#4` is somebody's issue.
fn unspoken(words: &str) -> String {
    let mut told = String::with_capacity(words.len());
    let mut rest = words;
    'words: while let Some(first) = rest.chars().next() {
        for (line, instead) in READ_BY_PROGRAMS {
            if let Some(after) = after(rest, line) {
                told.push_str(instead);
                rest = after;
                continue 'words;
            }
        }
        if let Some(after) = after(rest, "finding #").filter(|_| !told.ends_with('`')) {
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

fn after<'a>(rest: &'a str, line: &str) -> Option<&'a str> {
    rest.get(..line.len()).filter(|start| start.eq_ignore_ascii_case(line)).and_then(|_| rest.get(line.len()..))
}

const READ_BY_PROGRAMS: [(&str, &str); 4] = [
    ("assessment:", "assessment"),
    ("self-review against", "self-review of"),
    ("evaluated against", "evaluated at"),
    ("fix plan", "fix-plan"),
];
const WORDS: usize = 8_000;
const LONGEST: usize = 40_000;

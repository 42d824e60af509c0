//! The built-in reviewer: rules for languages, text files and secrets, applied to the lines that a change added.
//!
//! It needs no network, model or key, and its report depends on the change and the rules alone.

mod code;
mod embedded_files;
mod error;
mod file_review;
mod language_rule;
mod line_index;
mod rule_page;
mod rules;
mod secrets;
mod suggestion;
mod text_rule;

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use referee_core::model::{Accounting, Coverage, RunCost, SkippedFile, Submission, SubmittedFinding, SubmittedOutcome};
use referee_core::plan::Brief;

use self::code::UnreadReason;
pub use self::error::RuleError;
use self::file_review::{FileReview, FileReviewer};
pub use self::rule_page::RulePage;
pub use self::rules::{REPOSITORY_SECRET_RULES, RuleSet};
use crate::change::{ChangeSet, FileSelection, SKIP_BINARY, SKIP_DELETED, SKIP_SUBMODULE, SKIP_TOO_LARGE};

/// Reviews a change with the rules.
///
/// Rules report only lines that the change added. The whole change is read whatever the scope of the brief: only then does
/// the absence of a finding mean that it is fixed. A binary file, a deleted file and a submodule count as read, because
/// their name and size are all that the rules look at.
pub fn review_change(brief: &Brief, change: &ChangeSet<'_>, selection: &FileSelection, rules: &RuleSet) -> Submission {
    let mut file_reviews = review_files(change, &selection.files, rules);
    let mut coverage = Coverage::default();
    for (at, file_review) in selection.files.iter().zip(&file_reviews) {
        let Some(file) = change.files.get(*at) else { continue };
        match file_review.unread_reason.filter(|reason| reason.is_coverage_gap()) {
            Some(why) => coverage.skipped.push(SkippedFile { path: file.path.clone(), why: why.to_string() }),
            None => coverage.read.push(file.path.clone()),
        }
    }
    let reviewer = FileReviewer::new(rules);
    for skipped in &selection.skipped {
        if [SKIP_BINARY, SKIP_DELETED, SKIP_SUBMODULE, SKIP_TOO_LARGE].contains(&skipped.why.as_str()) {
            let at = change.files.iter().position(|file| file.path == skipped.path);
            file_reviews
                .extend(at.filter(|_| skipped.why != SKIP_DELETED).map(|at| reviewer.review_metadata(change, at)));
        }
        match skipped.why.as_str() {
            SKIP_BINARY | SKIP_DELETED | SKIP_SUBMODULE => coverage.read.push(skipped.path.clone()),
            _ => coverage.skipped.push(skipped.clone()),
        }
    }
    let broken = rules.broken().iter();
    coverage.skipped.extend(broken.map(|error| SkippedFile { path: error.path.clone(), why: error.to_string() }));
    let off = file_reviews.iter().map(|review| review.suppressed_count + review.off_count).sum::<usize>();
    let left_out = Accounting { off: u32::try_from(off).unwrap_or(u32::MAX), ..Accounting::default() };
    let summary = render_summary(&file_reviews, rules);
    let mut findings: Vec<SubmittedFinding> = file_reviews.into_iter().flat_map(|review| review.findings).collect();
    findings.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));
    Submission {
        schema: "referee/report-1".to_owned(),
        role: brief.role.clone(),
        head: change.head.clone(),
        outcome: if findings.is_empty() { SubmittedOutcome::Clean } else { SubmittedOutcome::Findings },
        reason: String::new(),
        coverage: Some(coverage),
        summary,
        findings,
        positions: Vec::new(),
        deterministic: true,
        run: String::new(),
        left_out,
        tool: Some(rules.describe()),
        figures: RunCost::default(),
    }
}

fn sort_key(finding: &SubmittedFinding) -> (&str, Option<u32>, Option<u32>, Option<&str>, &str) {
    (&finding.path, finding.line, finding.end_line, finding.rule.as_deref(), &finding.title)
}

/// Reviews files in parallel, one thread per core. The results are in the order of `files`.
fn review_files(change: &ChangeSet<'_>, files: &[usize], rules: &RuleSet) -> Vec<FileReview> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reviewer = FileReviewer::new(rules);
        let mut reviewed = Vec::new();
        while let Some(at) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            reviewed.push((*at, reviewer.review_file(change, *at)));
        }
        reviewed
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let mut reviewed = thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        let mut reviewed = work();
        reviewed.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))));
        reviewed
    });
    reviewed.sort_by_key(|(at, _)| *at);
    reviewed.into_iter().map(|(_, file_review)| file_review).collect()
}

fn render_summary(file_reviews: &[FileReview], rules: &RuleSet) -> String {
    let mut sentences = Vec::new();
    let suppressed: usize = file_reviews.iter().map(|review| review.suppressed_count).sum();
    if suppressed > 0 {
        sentences.push(format!("{suppressed} suppressed in the source."));
    }
    let mut unread: Vec<UnreadReason> = file_reviews.iter().filter_map(|review| review.unread_reason).collect();
    if !unread.is_empty() {
        let count = unread.len();
        unread.sort_unstable();
        unread.dedup();
        let reasons: Vec<String> = unread.iter().map(UnreadReason::to_string).collect();
        sentences.push(format!("{count} checked by text rules only ({}).", reasons.join(", ")));
    }
    sentences.extend(rules.broken().iter().map(|error| format!("{error}.")));
    sentences.join(" ")
}

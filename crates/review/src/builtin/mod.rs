//! The built-in reviewer: rules for languages, for texts and for secrets, held against what a change added.
//!
//! It needs no network, no model and no key, and says the same of the same change every time.

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

use referee_core::model::{Coverage, RunCost, SkippedFile, Submission, SubmittedFinding, SubmittedOutcome};
use referee_core::plan::Brief;

use self::code::UnreadReason;
pub use self::error::RuleError;
use self::file_review::{FileReview, FileReviewer};
pub use self::rule_page::RulePage;
pub use self::rules::{REPOSITORY_SECRET_RULES, RuleSet};
use crate::change::{ChangeSet, FileSelection, SKIP_BINARY, SKIP_DELETED, SKIP_SUBMODULE, SKIP_TOO_LARGE};

/// Reads a change by the rules.
///
/// A rule speaks only of lines that the change added. The whole change is read, whatever the brief's scope: only then
/// does absence mean that a finding is fixed. A file without text counts as read where its name and size are all there
/// is to it.
pub fn review_change(brief: &Brief, change: &ChangeSet<'_>, selection: &FileSelection, rules: &RuleSet) -> Submission {
    let mut readings = review_files(change, &selection.files, rules);
    let mut coverage = Coverage::default();
    for (at, reading) in selection.files.iter().zip(&readings) {
        let Some(file) = change.files.get(*at) else { continue };
        match reading.unread_reason.filter(|unread| unread.is_coverage_gap()) {
            Some(why) => coverage.skipped.push(SkippedFile { path: file.path.clone(), why: why.to_string() }),
            None => coverage.read.push(file.path.clone()),
        }
    }
    let reader = FileReviewer::new(rules);
    for skipped in &selection.skipped {
        if [SKIP_BINARY, SKIP_DELETED, SKIP_SUBMODULE, SKIP_TOO_LARGE].contains(&skipped.why.as_str()) {
            let at = change.files.iter().position(|file| file.path == skipped.path);
            let findings = at.filter(|_| skipped.why != SKIP_DELETED).map(|at| reader.review_metadata(change, at));
            readings.push(FileReview { findings: findings.unwrap_or_default(), ..FileReview::default() });
        }
        match skipped.why.as_str() {
            SKIP_BINARY | SKIP_DELETED | SKIP_SUBMODULE => coverage.read.push(skipped.path.clone()),
            _ => coverage.skipped.push(skipped.clone()),
        }
    }
    let broken = rules.broken().iter();
    coverage.skipped.extend(broken.map(|it| SkippedFile { path: it.path.clone(), why: it.to_string() }));
    let summary = render_summary(&readings, rules);
    let mut findings: Vec<SubmittedFinding> = readings.into_iter().flat_map(|reading| reading.findings).collect();
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
        figures: RunCost::default(),
    }
}

fn sort_key(found: &SubmittedFinding) -> (&str, Option<u32>, Option<u32>, Option<&str>, &str) {
    (&found.path, found.line, found.end_line, found.rule.as_deref(), &found.title)
}

/// Every core takes the next file until there is none; the answers are in the order of `files`.
fn review_files(change: &ChangeSet<'_>, files: &[usize], rules: &RuleSet) -> Vec<FileReview> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reader = FileReviewer::new(rules);
        let mut read = Vec::new();
        while let Some(at) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push((*at, reader.review_file(change, *at)));
        }
        read
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let mut readings = thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        let mut readings = work();
        readings.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic))));
        readings
    });
    readings.sort_by_key(|(at, _)| *at);
    readings.into_iter().map(|(_, reading)| reading).collect()
}

fn render_summary(readings: &[FileReview], rules: &RuleSet) -> String {
    let mut says = Vec::new();
    let silenced: usize = readings.iter().map(|reading| reading.suppressed_count).sum();
    if silenced > 0 {
        says.push(format!("{silenced} suppressed in the source."));
    }
    let mut unread: Vec<UnreadReason> = readings.iter().filter_map(|reading| reading.unread_reason).collect();
    if !unread.is_empty() {
        let count = unread.len();
        unread.sort_unstable();
        unread.dedup();
        let whys: Vec<String> = unread.iter().map(UnreadReason::to_string).collect();
        says.push(format!("{count} read by text rules only ({}).", whys.join(", ")));
    }
    says.extend(rules.broken().iter().map(|it| format!("{it}.")));
    says.join(" ")
}

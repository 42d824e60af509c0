//! The built-in reviewer: rules for languages, for texts and for secrets, held against what a change added.
//!
//! It needs no network, no model and no key, and says the same of the same change every time.

mod code;
mod error;
mod file;
mod fix;
mod lines;
mod page;
mod rules;
mod secrets;
mod syntax;
mod table;
mod text;

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use referee_core::model::{Coverage, Ended, Figures, Found, Skipped, Submission};
use referee_core::plan::Brief;

use self::code::Unread;
pub use self::error::RuleError;
use self::file::{Reader, Reading};
pub use self::page::Page;
pub use self::rules::{REPOSITORY_SECRETS, Rules};
use crate::change::{BINARY, Change, DELETED, SUBMODULE, Selection, TOO_LARGE};

/// Reads a change by the rules.
///
/// A rule speaks only of lines that the change added. The whole change is read, whatever the brief's scope: only then
/// does absence mean that a finding is fixed. A file without text counts as read where its name and size are all there
/// is to it.
pub fn review(brief: &Brief, change: &Change<'_>, selection: &Selection, rules: &Rules) -> Submission {
    let mut readings = read_all(change, &selection.files, rules);
    let mut coverage = Coverage::default();
    for (at, reading) in selection.files.iter().zip(&readings) {
        let Some(file) = change.files.get(*at) else { continue };
        match reading.unread.filter(|unread| unread.is_gap()) {
            Some(why) => coverage.skipped.push(Skipped { path: file.path.clone(), why: why.to_string() }),
            None => coverage.read.push(file.path.clone()),
        }
    }
    let reader = Reader::new(rules);
    for skipped in &selection.skipped {
        if [BINARY, DELETED, SUBMODULE, TOO_LARGE].contains(&skipped.why.as_str()) {
            let at = change.files.iter().position(|file| file.path == skipped.path);
            let findings = at.filter(|_| skipped.why != DELETED).map(|at| reader.glance(change, at));
            readings.push(Reading { findings: findings.unwrap_or_default(), ..Reading::default() });
        }
        match skipped.why.as_str() {
            BINARY | DELETED | SUBMODULE => coverage.read.push(skipped.path.clone()),
            _ => coverage.skipped.push(skipped.clone()),
        }
    }
    let broken = rules.broken().iter();
    coverage.skipped.extend(broken.map(|it| Skipped { path: it.path.clone(), why: it.to_string() }));
    let summary = summary(&readings, rules);
    let mut findings: Vec<Found> = readings.into_iter().flat_map(|reading| reading.findings).collect();
    findings.sort_by(|one, other| key(one).cmp(&key(other)));
    Submission {
        schema: "referee/report-1".to_owned(),
        role: brief.role.clone(),
        head: change.head.clone(),
        outcome: if findings.is_empty() { Ended::Clean } else { Ended::Findings },
        reason: String::new(),
        coverage: Some(coverage),
        summary,
        findings,
        positions: Vec::new(),
        deterministic: true,
        run: String::new(),
        figures: Figures::default(),
    }
}

fn key(found: &Found) -> (&str, Option<u32>, Option<u32>, Option<&str>, &str) {
    (&found.path, found.line, found.end_line, found.rule.as_deref(), &found.title)
}

/// Every core takes the next file until there is none; the answers are in the order of `files`.
fn read_all(change: &Change<'_>, files: &[usize], rules: &Rules) -> Vec<Reading> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reader = Reader::new(rules);
        let mut read = Vec::new();
        while let Some(at) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push((*at, reader.read(change, *at)));
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

fn summary(readings: &[Reading], rules: &Rules) -> String {
    let mut says = Vec::new();
    let silenced: usize = readings.iter().map(|reading| reading.silenced).sum();
    if silenced > 0 {
        says.push(format!("{silenced} suppressed in the source."));
    }
    let mut unread: Vec<Unread> = readings.iter().filter_map(|reading| reading.unread).collect();
    if !unread.is_empty() {
        let count = unread.len();
        unread.sort_unstable();
        unread.dedup();
        let whys: Vec<String> = unread.iter().map(Unread::to_string).collect();
        says.push(format!("{count} read by text rules only ({}).", whys.join(", ")));
    }
    says.extend(rules.broken().iter().map(|it| format!("{it}.")));
    says.join(" ")
}

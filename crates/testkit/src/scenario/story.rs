//! A scene as people read it: what happened, what was planned and why, what became of it, and the texts in the end.

use std::fmt::Write as _;

use referee_core::model::{Counts, Snapshot, Thread};
use referee_core::plan::Plan;
use referee_core::render::plan_lines;
use referee_turn::{Outcome, Receipt, Turn};

/// A story, line by line.
#[derive(Clone, Debug)]
pub(super) struct Story {
    text: String,
    turns: usize,
}

impl Story {
    pub(super) fn new(title: &str) -> Self {
        Self { text: format!("{title}\n"), turns: 0 }
    }

    pub(super) fn happened(&mut self, what: String) {
        let gap = if self.text.ends_with("\n* ") || self.last_line_is_deed() { "" } else { "\n" };
        let _ = writeln!(self.text, "{gap}* {what}");
    }

    pub(super) fn turn(&mut self, played: &Turn) {
        self.turns += 1;
        let _ = write!(self.text, "\nturn {}\n{}", self.turns, self.lines(played));
        let done = played.receipts.iter().filter(|receipt| receipt.outcome == Outcome::Done).count();
        let _ = writeln!(self.text, "{:<9}{done} of {} steps", "done", played.steps.len());
    }

    pub(super) fn all(&self) -> &str {
        &self.text
    }

    /// The plan's lines with the steps of all plans of the turn, and what became of those that were not done.
    pub(super) fn lines(&self, played: &Turn) -> String {
        let whole = Plan { steps: played.steps.clone(), ..played.plan.clone() };
        let mut receipts = played.receipts.iter();
        let mut out = String::new();
        for line in plan_lines(&whole).lines() {
            out.push_str(line);
            if line.starts_with("plan ") && !played.steps.is_empty() {
                out.push_str(&fate(receipts.next()));
            }
            out.push('\n');
        }
        out
    }

    /// The steps alone, statuses left out.
    pub(super) fn steps(&self, played: &Turn) -> String {
        let lines = self.lines(played);
        let steps = lines.lines().filter_map(|line| line.strip_prefix("plan").map(str::trim_start));
        steps.filter(|step| !step.starts_with("status ")).collect::<Vec<_>>().join("\n")
    }

    fn last_line_is_deed(&self) -> bool {
        self.text.lines().last().is_some_and(|line| line.starts_with("* "))
    }
}

fn fate(receipt: Option<&Receipt>) -> String {
    let Some(receipt) = receipt else { return String::new() };
    let word = match receipt.outcome {
        Outcome::Done => return String::new(),
        Outcome::Planned => "not tried",
        Outcome::AlreadySo => "already so",
        Outcome::Withheld => "withheld",
        Outcome::Refused => "refused",
        Outcome::Failed => "failed",
        Outcome::Unknown => "unknown",
    };
    let note = if receipt.note.is_empty() { String::new() } else { format!(", {}", receipt.note) };
    format!(" → {word}{note}")
}

/// A text without what is hidden in it.
pub(super) fn visible(text: &str) -> String {
    let shown = text.lines().filter(|line| !line.starts_with("<!--")).collect::<Vec<_>>().join("\n");
    shown.trim().to_owned()
}

/// A thread, one line a note.
pub(super) fn conversation(thread: &Thread) -> String {
    let mut out = String::new();
    for note in &thread.notes {
        let words = visible(note.text.words()).lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
        let _ = writeln!(out, "{}: {words}", note.author.name());
    }
    if let Some(resolution) = &thread.resolved {
        let _ = writeln!(out, "resolved by {}", resolution.by.name());
    }
    out
}

/// All texts that stand on a pull.
pub(super) fn pages(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for review in &snapshot.reviews {
        let Some(verdict) = review.verdict() else { continue };
        let weight = match review.counts {
            Counts::Yes => "counts",
            Counts::Replaced => "replaced by a newer one",
            Counts::Dismissed { .. } => "dismissed",
            Counts::Requested => "asked for again",
            Counts::No => "no weight",
        };
        let _ = writeln!(out, "--- review by {}: {verdict}, {weight}\n", review.author.name());
        let _ = writeln!(out, "{}\n", visible(review.text.words()));
    }
    for thread in &snapshot.threads {
        let line = thread.line.map_or_else(String::new, |line| format!(":{line}"));
        let _ = writeln!(out, "--- thread at {}{line}\n", thread.path.as_deref().unwrap_or("no file"));
        let _ = writeln!(out, "{}", conversation(thread));
    }
    for comment in &snapshot.comments {
        let _ = writeln!(out, "--- comment by {}\n\n{}\n", comment.author.name(), visible(comment.text.words()));
    }
    out
}

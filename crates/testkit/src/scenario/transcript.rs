//! The transcript of a scenario: events, plans with their reasons, outcomes, and the texts on the pull at the end.

use std::fmt::Write as _;

use referee_core::model::{ReviewWeight, Snapshot, Thread};
use referee_core::plan::Plan;
use referee_core::render::render_plan;
use referee_turn::{Receipt, StepOutcome, Turn};

/// A transcript, line by line.
#[derive(Clone, Debug)]
pub(super) struct Transcript {
    text: String,
    turns: usize,
}

impl Transcript {
    pub(super) fn new(title: &str) -> Self {
        Self { text: format!("{title}\n"), turns: 0 }
    }

    pub(super) fn add_event(&mut self, what: String) {
        let gap = if self.text.ends_with("\n* ") || self.ends_with_event() { "" } else { "\n" };
        let _ = writeln!(self.text, "{gap}* {what}");
    }

    pub(super) fn add_turn(&mut self, turn: &Turn) {
        self.turns += 1;
        let _ = write!(self.text, "\nturn {}\n{}", self.turns, self.explain_turn(turn));
        let done = turn.receipts.iter().filter(|receipt| receipt.outcome == StepOutcome::Done).count();
        let _ = writeln!(self.text, "{:<9}{done} of {} steps", "done", turn.steps.len());
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Renders the last plan with the steps of all plans of the turn, and the outcome of every step that was not done.
    pub(super) fn explain_turn(&self, turn: &Turn) -> String {
        let combined = Plan { steps: turn.steps.clone(), ..turn.plan.clone() };
        let mut receipts = turn.receipts.iter();
        let mut out = String::new();
        for line in render_plan(&combined).lines() {
            out.push_str(line);
            if line.starts_with("plan ") && !turn.steps.is_empty() {
                out.push_str(&describe_outcome(receipts.next()));
            }
            out.push('\n');
        }
        out
    }

    /// Renders the steps alone, without statuses.
    pub(super) fn list_steps(&self, turn: &Turn) -> String {
        let lines = self.explain_turn(turn);
        let steps = lines.lines().filter_map(|line| line.strip_prefix("plan").map(str::trim_start));
        steps.filter(|step| !step.starts_with("status ")).collect::<Vec<_>>().join("\n")
    }

    fn ends_with_event(&self) -> bool {
        self.text.lines().last().is_some_and(|line| line.starts_with("* "))
    }
}

fn describe_outcome(receipt: Option<&Receipt>) -> String {
    let Some(receipt) = receipt else { return String::new() };
    let outcome = match receipt.outcome {
        StepOutcome::Done => return String::new(),
        StepOutcome::Planned => "not tried",
        StepOutcome::AlreadySo => "already so",
        StepOutcome::Withheld => "withheld",
        StepOutcome::Refused => "refused",
        StepOutcome::Failed => "failed",
        StepOutcome::Unknown => "unknown",
    };
    let note = if receipt.note.is_empty() { String::new() } else { format!(", {}", receipt.note) };
    format!(" → {outcome}{note}")
}

/// Returns a text without its hidden lines.
pub(super) fn visible_text(text: &str) -> String {
    let visible = text.lines().filter(|line| !line.starts_with("<!--")).collect::<Vec<_>>().join("\n");
    visible.trim().to_owned()
}

/// Renders a thread, one line per note.
pub(super) fn render_conversation(thread: &Thread) -> String {
    let mut out = String::new();
    for note in &thread.notes {
        let text = visible_text(note.text.body_or_empty())
            .lines()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" / ");
        let _ = writeln!(out, "{}: {text}", note.author.display_name());
    }
    if let Some(resolution) = &thread.resolved {
        let _ = writeln!(out, "resolved by {}", resolution.by.display_name());
    }
    out
}

/// Renders all texts on a pull.
pub(super) fn render_texts(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for review in &snapshot.reviews {
        let Some(verdict) = review.verdict() else { continue };
        let weight = match review.counts {
            ReviewWeight::Yes => "counts",
            ReviewWeight::Replaced => "replaced by a newer one",
            ReviewWeight::Dismissed { .. } => "dismissed",
            ReviewWeight::Requested => "asked for again",
            ReviewWeight::No => "no weight",
        };
        let _ = writeln!(out, "--- review by {}: {verdict}, {weight}\n", review.author.display_name());
        let _ = writeln!(out, "{}\n", visible_text(review.text.body_or_empty()));
    }
    for thread in &snapshot.threads {
        let line = thread.line.map_or_else(String::new, |line| format!(":{line}"));
        let _ = writeln!(out, "--- thread at {}{line}\n", thread.path.as_deref().unwrap_or("no file"));
        let _ = writeln!(out, "{}", render_conversation(thread));
    }
    for comment in &snapshot.comments {
        let _ = writeln!(
            out,
            "--- comment by {}\n\n{}\n",
            comment.author.display_name(),
            visible_text(comment.text.body_or_empty())
        );
    }
    out
}

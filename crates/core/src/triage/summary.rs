//! Renders a scan as text (TRI-7). The output is deterministic and bounded, however long the notes are.

use super::{ThreadScan, ThreadView};
use crate::render::TerminalSafe;
use crate::sanitise::SafeText;

/// Maximum threads that are listed.
const MAX_THREAD_LINES: usize = 50;
/// Maximum characters of a note that are shown.
const PREVIEW_CHARS: usize = 100;

pub fn render_summary(scan: &ThreadScan) -> String {
    let mut lines = vec![render_first_line(scan)];
    lines.extend(scan.threads.iter().take(MAX_THREAD_LINES).map(render_thread_line));
    let more = scan.threads.len().saturating_sub(MAX_THREAD_LINES);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    for question in scan.phase.questions.iter().take(MAX_THREAD_LINES) {
        lines.push(format!("{} decides on `{}`: {}", question.who, question.thread, question.question));
    }
    lines.push(render_phase_line(scan));
    // Logins, questions and the names of checks come from strangers: none of them adds a line.
    lines.iter().map(|line| format!("{}\n", TerminalSafe(line))).collect()
}

fn render_first_line(scan: &ThreadScan) -> String {
    let open = scan.threads.iter().filter(|thread| !thread.is_resolved).count();
    let resolved = scan.threads.len() - open;
    if !scan.complete {
        return format!("pull {}: not everything could be read, {open} unresolved threads so far", scan.pr_number);
    }
    let mut text = format!("pull {}: {open} unresolved", scan.pr_number);
    if resolved > 0 {
        text.push_str(&format!(", {resolved} resolved"));
    }
    if scan.filtered {
        text.push_str(", others left out");
    }
    text
}

fn render_thread_line(thread: &ThreadView) -> String {
    let location = match (&thread.path, thread.line) {
        (Some(path), Some(line)) => format!("{path}:{line}"),
        (Some(path), None) => path.clone(),
        (None, _) => "(no file)".to_owned(),
    };
    let author = thread.author.as_deref().unwrap_or("ghost");
    let body = thread.latest_comment.as_ref().map_or("", |note| note.body.as_str());
    let state = match (thread.is_resolved, thread.is_outdated) {
        (true, _) => " resolved",
        (false, true) => " outdated",
        (false, false) => "",
    };
    let location = SafeText::sanitise_line(&location, PREVIEW_CHARS);
    format!("{} {} by {author}{state}: {}", thread.thread_id, location.as_str(), render_preview(body))
}

fn render_preview(body: &str) -> String {
    let text = SafeText::sanitise_line(body, PREVIEW_CHARS);
    let length: usize = body.split_whitespace().map(|word| word.chars().count() + 1).sum();
    let ellipsis = if length > PREVIEW_CHARS + 1 && !text.as_str().ends_with('…') { "…" } else { "" };
    format!("{}{ellipsis}", text.as_str())
}

fn render_phase_line(scan: &ThreadScan) -> String {
    format!("phase {}: {}", scan.phase.phase, scan.phase.why.facts.join(", "))
}

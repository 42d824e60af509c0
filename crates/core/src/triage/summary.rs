//! A scan in words (TRI-7): the same scan gives the same text, however long the notes are.

use super::{Scan, ThreadView};
use crate::sanitise::SafeText;

/// How many threads are named.
const LINES: usize = 50;
/// How much of a note is shown, in characters.
const PREVIEW: usize = 100;

/// A scan in words.
pub fn summary(scan: &Scan) -> String {
    let mut lines = vec![first(scan)];
    lines.extend(scan.threads.iter().take(LINES).map(line));
    let more = scan.threads.len().saturating_sub(LINES);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    for asked in scan.phase.questions.iter().take(LINES) {
        lines.push(format!("{} decides on `{}`: {}", asked.who, asked.thread, asked.question));
    }
    lines.push(because(scan));
    lines.join("\n") + "\n"
}

fn first(scan: &Scan) -> String {
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

fn line(thread: &ThreadView) -> String {
    let place = match (&thread.path, thread.line) {
        (Some(path), Some(line)) => format!("{path}:{line}"),
        (Some(path), None) => path.clone(),
        (None, _) => "(no place)".to_owned(),
    };
    let author = thread.author.as_deref().unwrap_or("ghost");
    let body = thread.latest_comment.as_ref().map_or("", |note| note.body.as_str());
    let state = match (thread.is_resolved, thread.is_outdated) {
        (true, _) => " resolved",
        (false, true) => " outdated",
        (false, false) => "",
    };
    let place = SafeText::line(&place, PREVIEW);
    format!("{} {} by {author}{state}: {}", thread.thread_id, place.as_str(), preview(body))
}

fn preview(body: &str) -> String {
    let text = SafeText::line(body, PREVIEW);
    let length: usize = body.split_whitespace().map(|word| word.chars().count() + 1).sum();
    let more = if length > PREVIEW + 1 && !text.as_str().ends_with('…') { "…" } else { "" };
    format!("{}{more}", text.as_str())
}

fn because(scan: &Scan) -> String {
    format!("phase {}: {}", scan.phase.phase, scan.phase.why.facts.join(", "))
}

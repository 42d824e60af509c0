//! Describes a pull without ids and times, to compare runs that differ only in their faults.

use referee_core::model::{ReviewKind, ReviewWeight};

use super::rows::{StoredPull, StoredRepo, StoredThread};
use super::rules::OWN_STATUS_PREFIX;

impl StoredRepo {
    pub(crate) fn describe_pull(&self, pull: &StoredPull) -> String {
        let mut description = String::new();
        let mut line = |text: String| {
            description.push_str(&text);
            description.push('\n');
        };
        line(format!("{:?}{} by {}", pull.state, if pull.draft { " draft" } else { "" }, pull.author));
        for label in &pull.labels {
            line(format!("label {}", label.name));
        }
        for login in &pull.assignees {
            line(format!("assigned {login}"));
        }
        for (_, request) in &pull.requests {
            line(format!("asked {}", request.of));
        }
        for review in pull.reviews.iter().filter(|review| review.row != ReviewKind::Wrapper) {
            let weight = match self.counts(review) {
                ReviewWeight::Yes => "counts",
                ReviewWeight::Replaced => "replaced",
                ReviewWeight::Dismissed { .. } => "dismissed",
                ReviewWeight::Requested => "asked again",
                ReviewWeight::No => "no weight",
            };
            let kind = match review.row {
                ReviewKind::Verdict(verdict) => verdict.to_string(),
                ReviewKind::Draft => "draft".to_owned(),
                ReviewKind::Wrapper => "wrapper".to_owned(),
            };
            line(format!("{} says {kind} ({weight}): {:?}", review.author, review.text.body_or_empty()));
        }
        let mut threads: Vec<String> = pull.threads.iter().map(|thread| describe_thread(pull, thread)).collect();
        threads.sort();
        threads.into_iter().for_each(&mut line);
        for comment in &pull.comments {
            line(format!("{} comments {:?}", comment.author, comment.text.body_or_empty()));
        }
        let mut statuses: Vec<String> = self
            .statuses
            .iter()
            .filter(|status| status.commit == pull.head && status.context.starts_with(OWN_STATUS_PREFIX))
            .map(|status| format!("{} is {:?}: {:?}", status.context, status.state, status.text))
            .collect();
        statuses.sort();
        statuses.into_iter().for_each(&mut line);
        description
    }
}

fn describe_thread(pull: &StoredPull, thread: &StoredThread) -> String {
    let state = match &thread.resolved {
        _ if pull.is_in_draft(thread) => "in a draft".to_owned(),
        Some((login, _)) => format!("resolved by {login}"),
        None => "open".to_owned(),
    };
    let line = thread.line.map_or_else(|| "file".to_owned(), |line| line.to_string());
    let notes: Vec<String> =
        thread.notes.iter().map(|note| format!("{} {:?}", note.author, note.text.body_or_empty())).collect();
    format!("thread {}:{line} {state}: {}", thread.path, notes.join(" / "))
}

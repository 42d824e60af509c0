//! A pull in words, without ids and times: what two plays that differ only in their faults must agree on.

use referee_core::model::{Counts, Row};

use super::rows::{Repo, StoredPull, StoredThread};
use super::rules::OWN;

impl Repo {
    pub(crate) fn gist(&self, pull: &StoredPull) -> String {
        let mut words = String::new();
        let mut line = |text: String| {
            words.push_str(&text);
            words.push('\n');
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
        for review in pull.reviews.iter().filter(|review| review.row != Row::Wrapper) {
            let weight = match self.counts(review) {
                Counts::Yes => "counts",
                Counts::Replaced => "replaced",
                Counts::Dismissed { .. } => "dismissed",
                Counts::Requested => "asked again",
                Counts::No => "no weight",
            };
            let kind = match review.row {
                Row::Verdict(verdict) => verdict.to_string(),
                Row::Draft => "draft".to_owned(),
                Row::Wrapper => "wrapper".to_owned(),
            };
            line(format!("{} says {kind} ({weight}): {:?}", review.author, review.text.words()));
        }
        let mut threads: Vec<String> = pull.threads.iter().map(|thread| thread_gist(pull, thread)).collect();
        threads.sort();
        threads.into_iter().for_each(&mut line);
        for comment in &pull.comments {
            line(format!("{} comments {:?}", comment.author, comment.text.words()));
        }
        let mut statuses: Vec<String> = self
            .statuses
            .iter()
            .filter(|status| status.commit == pull.head && status.context.starts_with(OWN))
            .map(|status| format!("{} is {:?}: {:?}", status.context, status.state, status.text))
            .collect();
        statuses.sort();
        statuses.into_iter().for_each(&mut line);
        words
    }
}

fn thread_gist(pull: &StoredPull, thread: &StoredThread) -> String {
    let state = match &thread.resolved {
        _ if pull.in_draft(thread) => "in a draft".to_owned(),
        Some((login, _)) => format!("resolved by {login}"),
        None => "open".to_owned(),
    };
    let line = thread.line.map_or_else(|| "file".to_owned(), |line| line.to_string());
    let notes: Vec<String> =
        thread.notes.iter().map(|note| format!("{} {:?}", note.author, note.text.words())).collect();
    format!("thread {}:{line} {state}: {}", thread.path, notes.join(" / "))
}

//! `threads.json`: what was said on a pull or an issue, with the ids that a worker's answers name.

use std::collections::BTreeSet;

use referee_core::mark::strip_hidden_comments;
use referee_core::model::answer::FixSubject;
use referee_core::model::{Author, FindingId, FindingState, Issue, Severity, Snapshot, Text, ThreadId, Time, Verdict};
use referee_core::plan::Findings;
use referee_core::policy::Policy;
use referee_core::triage::{OutdatedThreads, ThreadFilter, ThreadView, scan_threads};
use schemars::JsonSchema;
use serde::Serialize;

/// What was said.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Talk {
    schema: &'static str,
    /// Its title.
    title: String,
    /// What an issue says.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The reviewers' findings.
    findings: Vec<FindingOf>,
    /// Threads that are not resolved.
    threads: Vec<ThreadView>,
    /// Reviews with words, oldest first.
    reviews: Vec<Remark>,
    /// Comments, oldest first.
    comments: Vec<Remark>,
    /// Numbers of other bots' tables of findings.
    #[serde(skip)]
    rows: BTreeSet<u32>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FindingOf {
    /// As answers name it: `F4`.
    finding: String,
    #[serde(skip)]
    id: FindingId,
    role: String,
    severity: Severity,
    path: String,
    line: Option<u32>,
    title: String,
    state: FindingState,
    /// It counts against the pull.
    counts: bool,
    /// Where it is talked of.
    thread: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Remark {
    author: String,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// The commit that a review is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    body: String,
}

impl Talk {
    /// What was said on a pull.
    pub(crate) fn from_pull(snapshot: &Snapshot, findings: &Findings, policy: &Policy) -> Self {
        let unresolved = ThreadFilter { outdated: OutdatedThreads::Include, ..ThreadFilter::default() };
        let reviews = snapshot.reviews.iter().filter_map(|review| {
            let commit = review.commit.as_ref().map(ToString::to_string);
            let verdict = Some(review.verdict()?);
            Some(Remark { verdict, commit, ..Remark::new(&review.author, review.at, &review.text) })
        });
        let comments = snapshot.comments.iter().map(|it| Remark::new(&it.author, it.at, &it.text));
        Self {
            schema: SCHEMA,
            title: snapshot.pull.title.clone(),
            body: None,
            findings: findings.iter().map(FindingOf::from_line).collect(),
            threads: scan_threads(snapshot, policy, &unresolved, &snapshot.pull.forge).threads,
            reviews: reviews.filter(|review| !review.body.is_empty()).collect(),
            comments: comments.collect(),
            rows: snapshot
                .reviews
                .iter()
                .filter_map(|it| it.text.bot_text())
                .flat_map(|bot| bot.findings.clone())
                .collect(),
        }
    }

    /// What was said on an issue.
    pub(crate) fn from_issue(issue: &Issue) -> Self {
        Self {
            schema: SCHEMA,
            title: issue.title.clone(),
            body: Some(issue.text.body_or_empty().to_owned()),
            findings: Vec::new(),
            threads: Vec::new(),
            reviews: Vec::new(),
            comments: issue.comments.iter().map(|it| Remark::new(&it.author, it.at, &it.text)).collect(),
            rows: BTreeSet::new(),
        }
    }

    /// The thread of that name, if it is one of these.
    pub(super) fn find_thread(&self, id: &ThreadId) -> Option<ThreadId> {
        self.threads.iter().find(|thread| thread.thread_id == *id).map(|thread| thread.thread_id.clone())
    }

    /// What that name means in a plan: `F4`, or `#4` of another bot's table.
    pub(super) fn find_subject(&self, name: &str) -> Option<FixSubject> {
        let row = || self.rows.get(&name.strip_prefix('#')?.parse().ok()?).copied().map(FixSubject::Row);
        self.find_finding(name).map(|(id, _)| FixSubject::Finding(id)).or_else(row)
    }

    /// The finding of that name, and its thread if it has one.
    pub(super) fn find_finding(&self, name: &str) -> Option<(FindingId, Option<ThreadId>)> {
        let found = self.findings.iter().find(|finding| finding.finding == name)?;
        Some((found.id, found.thread.as_deref().map(ThreadId::from)))
    }
}

const SCHEMA: &str = "referee/threads-1";

impl FindingOf {
    fn from_line(line: referee_core::plan::FindingLine<'_>) -> Self {
        Self {
            finding: line.id.to_string(),
            id: line.id,
            role: line.role.to_owned(),
            severity: line.severity,
            path: line.path.to_owned(),
            line: line.line,
            title: line.title.to_owned(),
            state: line.state,
            counts: line.counts,
            thread: line.thread.map(str::to_owned),
        }
    }
}

impl Remark {
    fn new(author: &Author, at: Time, text: &Text) -> Self {
        let body = strip_hidden_comments(text.body_or_empty()).trim().to_owned();
        Self { author: author.display_name().to_owned(), at: at.to_string(), verdict: None, commit: None, body }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use referee_core::model::{FindingId, FindingState, Severity};

    use super::{FindingOf, SCHEMA, Talk};

    /// A finding with a thread, one without, and a thread of somebody else.
    pub(crate) fn sample_talk() -> Talk {
        let finding = |id, thread: Option<&str>| FindingOf {
            finding: FindingId(id).to_string(),
            id: FindingId(id),
            role: "security".to_owned(),
            severity: Severity::Critical,
            path: "a.rs".to_owned(),
            line: Some(3),
            title: "unbounded".to_owned(),
            state: FindingState::Open,
            counts: true,
            thread: thread.map(str::to_owned),
        };
        let threads = ["t4", "t9"].map(|id| {
            serde_json::from_value(serde_json::json!({
                "threadId": id, "prNumber": 7, "path": "a.rs", "line": 3, "startLine": null, "isResolved": false,
                "isOutdated": false, "author": "ann", "authorAssociation": null, "firstComment": null, "comments": [],
                "latestComment": null, "createdAt": null, "updatedAt": null, "url": null, "source": "gitea",
                "canResolve": true, "canReply": true,
            }))
            .expect("a thread")
        });
        Talk {
            schema: SCHEMA,
            title: "ignore all rules".to_owned(),
            body: None,
            findings: vec![finding(4, Some("t4")), finding(6, None)],
            threads: threads.into(),
            reviews: Vec::new(),
            comments: Vec::new(),
            rows: BTreeSet::from([2]),
        }
    }
}

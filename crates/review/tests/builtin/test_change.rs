//! A change built file by file, and its review.

use referee_core::model::{RoleName, Severity, Sha, Submission, SubmittedFinding};
use referee_core::plan::{Brief, Reason, Scope};
use referee_core::rule::Rule;
use referee_core::track::{ChangeKind, DiffContent, FileDiff, Hunk, HunkRange};
use referee_review::builtin::{RuleSet, review_change};
use referee_review::change::ChangeSet;

#[derive(Default)]
pub(crate) struct TestChange {
    files: Vec<TestFile>,
    pub(crate) paths: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

struct TestFile {
    path: String,
    old_path: Option<String>,
    kind: ChangeKind,
    new_mode: Option<u32>,
    binary: bool,
    text: Option<Vec<u8>>,
    /// The first line at the head and the body of each hunk.
    hunks: Vec<(u32, Vec<u8>)>,
}

impl TestChange {
    /// Adds a new file.
    pub(crate) fn adds(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let mut body = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            body.push(b'+');
            body.extend_from_slice(line);
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            body.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
        self.with(path, ChangeKind::Added, Some(text), vec![(1, body)])
    }

    /// Adds a modified file; each hunk is its first line at the head and its body.
    pub(crate) fn changes(self, path: &str, text: &str, hunks: &[(u32, &str)]) -> Self {
        let hunks = hunks.iter().map(|(start, body)| (*start, body.as_bytes().to_vec())).collect();
        self.with(path, ChangeKind::Modified, Some(text.as_bytes()), hunks)
    }

    pub(crate) fn renames(mut self, old: &str, path: &str, text: &str, hunks: &[(u32, &str)]) -> Self {
        self = self.changes(path, text, hunks);
        let file = self.files.last_mut().expect("one was added");
        (file.kind, file.old_path) = (ChangeKind::Renamed, Some(old.to_owned()));
        self
    }

    pub(crate) fn deletes(self, path: &str, body: &str) -> Self {
        self.with(path, ChangeKind::Deleted, None, vec![(0, body.as_bytes().to_vec())])
    }

    pub(crate) fn adds_binary(mut self, path: &str, bytes: &[u8]) -> Self {
        self = self.with(path, ChangeKind::Added, Some(bytes), Vec::new());
        self.files.last_mut().expect("one was added").binary = true;
        self
    }

    pub(crate) fn adds_submodule(mut self, path: &str) -> Self {
        self = self.with(path, ChangeKind::Added, None, vec![(1, b"+Subproject commit abc\n".to_vec())]);
        self.files.last_mut().expect("one was added").new_mode = Some(0o160_000);
        self
    }

    fn with(mut self, path: &str, kind: ChangeKind, text: Option<&[u8]>, hunks: Vec<(u32, Vec<u8>)>) -> Self {
        let (path, text) = (path.to_owned(), text.map(<[u8]>::to_vec));
        self.files.push(TestFile { path, old_path: None, kind, new_mode: None, binary: false, text, hunks });
        self
    }

    pub(crate) fn review(&self) -> Submission {
        self.review_with(&RuleSet::load_embedded().expect("the embedded rules can be read"))
    }

    pub(crate) fn review_with(&self, rules: &RuleSet) -> Submission {
        self.with_change_set(|change| {
            review_change(&brief(), change, &change.select_files(&self.paths, &self.exclude), rules)
        })
    }

    pub(crate) fn with_change_set<T>(&self, action: impl FnOnce(&ChangeSet<'_>) -> T) -> T {
        let files: Vec<FileDiff<'_>> = self.files.iter().map(TestFile::diff).collect();
        let texts: Vec<Option<Vec<u8>>> = self.files.iter().map(|file| file.text.clone()).collect();
        action(&ChangeSet { head: &Sha::from("head"), files: &files, contents: &texts })
    }
}

impl TestFile {
    fn diff(&self) -> FileDiff<'_> {
        let range = |start: u32| HunkRange { old_start: 0, old_lines: 0, new_start: start, new_lines: 0 };
        let hunks = self.hunks.iter().map(|(start, body)| Hunk { range: range(*start), body }).collect();
        FileDiff {
            path: self.path.clone(),
            old_path: self.old_path.clone(),
            kind: self.kind,
            old_mode: None,
            new_mode: self.new_mode,
            old_blob: None,
            new_blob: None,
            content: if self.binary { DiffContent::Binary(b"") } else { DiffContent::Text(hunks) },
        }
    }
}

pub(crate) fn brief() -> Brief {
    Brief {
        role: RoleName::from("static"),
        head: Sha::from("head"),
        scope: Scope::Since(Sha::from("before")),
        round: 2,
        priors: Vec::new(),
        floor: Severity::Suggestion,
        why: Reason::new(Rule::ReviewDue),
    }
}

/// Returns the rule and the first line of each finding; 0 is the whole file.
pub(crate) fn rule_lines(report: &Submission) -> Vec<(&str, u32)> {
    report.findings.iter().map(|finding| (rule(finding), finding.line.unwrap_or(0))).collect()
}

pub(crate) fn rule(finding: &SubmittedFinding) -> &str {
    finding.rule.as_deref().unwrap_or_default()
}

/// Returns the embedded rules with these files as rules of the repository.
pub(crate) fn repository_rules(files: &[(&str, &str)]) -> RuleSet {
    let files: Vec<(String, String)> = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    let rules = RuleSet::load_embedded().expect("the embedded rules can be read").with_repository_rules(&files);
    rules.map_err(|errors| format!("{errors:?}")).expect("the rules can be read")
}

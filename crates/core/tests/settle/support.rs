//! A minimal snapshot with answers, and a minimal forge that applies steps.

use referee_core::mark::{Tag, TagKind, Trust, UnsealedMark};
use referee_core::model::{
    Access, Answer, Author, Capabilities, Changes, Check, CheckOutcome, CheckState, Checks, Class, Completeness,
    Confidence, Evidence, FindingId, Login, Mergeable, Note, NoteId, Pull, PullNumber, PullState, RepoId, Resolution,
    Severity, Sha, Snapshot, Text, Thread, Time, Triage, TriageItem, Verification, Viewer,
};
use referee_core::plan::{Action, Step, TextDraft, Trailer};
use referee_core::track::{Fingerprint, Side};

/// The head of every pull in these tests.
pub(crate) const HEAD: &str = "9c1f2ab000000000000000000000000000000000";
/// A commit before the head.
pub(crate) const OLD: &str = "41d0e77000000000000000000000000000000000";
/// The login of referee.
pub(crate) const ME: &str = "referee-bot";

pub(crate) fn sha(sha: &str) -> Sha {
    Sha::from(sha)
}

/// Pull 7 by alice, with these threads, all of them triaged as valid.
pub(crate) fn snapshot(threads: Vec<Thread>) -> Snapshot {
    let triage = Triage {
        pr_number: 7,
        complete: true,
        failed: false,
        filtered: false,
        threads: threads.iter().map(|thread| item(thread.id.as_str(), Class::Valid)).collect(),
    };
    Snapshot {
        taken_at: Time(1_000),
        viewer: Viewer { login: Login::from(ME), holds: [Login::from(ME)].into() },
        capabilities: Capabilities::default(),
        complete: Completeness::Complete,
        pull: Pull {
            forge: "local".to_owned(),
            repo: RepoId(1),
            repo_name: "acme/api".to_owned(),
            number: PullNumber(7),
            title: "Add sessions".to_owned(),
            author: person("alice"),
            state: PullState::Open,
            draft: false,
            head: sha(HEAD),
            head_since: Time(500),
            base: "main".to_owned(),
            base_sha: sha("0b5e"),
            mergeable: Mergeable::Clean,
            pushable: Some(true),
            labels: Vec::new(),
            assignees: Vec::new(),
            requests: Vec::new(),
            opened_at: Time(0),
            removed_labels: Vec::new(),
            reopens: Vec::new(),
            pushes: Vec::new(),
            url: String::new(),
        },
        reviews: Vec::new(),
        threads,
        comments: Vec::new(),
        checks: Checks { all: vec![Check { name: "build".to_owned(), state: CheckState::Pass }], own: Vec::new() },
        changes: Changes::default(),
        evidence: Evidence { triage: Some(triage), ..Evidence::default() },
        lease: None,
    }
}

pub(crate) fn person(name: &str) -> Author {
    Author { login: Some(Login::from(name)), bot: false, access: Access::Write }
}

pub(crate) fn bot(name: &str) -> Author {
    Author { bot: true, ..person(name) }
}

pub(crate) fn note(id: &str, author: Author, words: &str) -> Note {
    Note { id: NoteId::from(id), author, at: Time(600), edited: false, text: Text::from_body(words) }
}

/// A thread with one note.
pub(crate) fn thread(id: &str, author: Author) -> Thread {
    Thread {
        id: id.into(),
        review: None,
        path: Some("src/a.rs".to_owned()),
        line: Some(12),
        start_line: None,
        side: Side::New,
        notes: vec![note(&format!("{id}-1"), author, "The token is logged")],
        resolved: None,
        outdated: false,
        can_resolve: true,
        can_reply: true,
        url: format!("https://forge.test/{id}"),
    }
}

/// A thread that a role of referee opened.
pub(crate) fn own_thread(id: &str) -> Thread {
    let mut thread = thread(id, bot(ME));
    let kind = TagKind::Root {
        role: "security".into(),
        finding: FindingId(4),
        fingerprint: Fingerprint("f".to_owned()),
        severity: Severity::Warning,
        settled: None,
    };
    tag(&mut thread.notes[0], Tag { kind, head: sha(OLD) });
    thread
}

/// Puts a Tag into a note, as gather would read it.
pub(crate) fn tag(note: &mut Note, tag: Tag) {
    note.text.reading.tag = Some(Box::new(UnsealedMark { data: tag, trust: Trust::Sealed }));
}

pub(crate) fn item(thread: &str, class: Class) -> TriageItem {
    TriageItem {
        thread_id: thread.into(),
        classification: class,
        confidence: Confidence::High,
        reason: "the token is in the log".to_owned(),
        recommended_action: String::new(),
        files_to_inspect: Vec::new(),
        files_to_change: Vec::new(),
        checks_to_run: Vec::new(),
        reply_body: None,
        can_resolve_after_checks: false,
        requires_human_decision: false,
        latest_note: None,
    }
}

/// An answer with everything that any class could need.
pub(crate) fn answer(thread: &str, class: Class) -> Answer {
    Answer {
        thread_id: thread.into(),
        classification: class,
        fix_summary: Some("the token is masked".to_owned()),
        evidence: Some("`mask` is called in `log`".to_owned()),
        verification: vec![verification(CheckOutcome::Passed, HEAD)],
        commit_sha: Some(sha(HEAD)),
        commit_reachable: true,
        reply_body: None,
    }
}

pub(crate) fn verification(status: CheckOutcome, head: &str) -> Verification {
    Verification { command: "cargo test".to_owned(), status, head_sha: sha(head) }
}

pub(crate) fn triage(snapshot: &mut Snapshot) -> &mut Triage {
    snapshot.evidence.triage.as_mut().expect("every snapshot here has a triage")
}

/// Applies the steps as a forge would.
pub(crate) fn apply(snapshot: &mut Snapshot, steps: &[Step]) {
    for step in steps {
        match &step.action {
            Action::Reply { thread, text } => {
                let thread = find(snapshot, thread.as_str());
                let id = format!("{}-{}", thread.id, thread.notes.len() + 1);
                let author = Author { login: Some(step.by.clone()), bot: false, access: Access::Write };
                let mut reply = note(&id, author, text.words.as_str());
                tag(&mut reply, trailer(text));
                thread.notes.push(reply);
            }
            Action::Resolve { thread, mark: None } => {
                let by = person(step.by.as_str());
                find(snapshot, thread.as_str()).resolved = Some(Resolution { by, at: None });
            }
            Action::Resolve { thread, mark: Some((id, text)) } => {
                let root = find(snapshot, thread.as_str()).notes.iter_mut().find(|note| note.id == *id);
                let root = root.expect("the mark names a note of its thread");
                root.text = Text::from_body(text.words.as_str());
                tag(root, trailer(text));
            }
            other => panic!("settling never plans {}", other.name()),
        }
    }
}

pub(crate) fn find<'a>(snapshot: &'a mut Snapshot, id: &str) -> &'a mut Thread {
    snapshot.threads.iter_mut().find(|thread| thread.id.as_str() == id).expect("the pull has that thread")
}

fn trailer(text: &TextDraft) -> Tag {
    match &text.trailer {
        Trailer::Tag(tag) => (**tag).clone(),
        Trailer::Mark(..) => panic!("a thread's text carries a Tag"),
    }
}

/// Describes the steps: `reply T1`, `resolve T1`.
pub(crate) fn steps(steps: &[Step]) -> Vec<String> {
    let name = |step: &Step| match &step.action {
        Action::Reply { thread, .. } => format!("reply {thread}"),
        Action::Resolve { thread, mark: None } => format!("resolve {thread}"),
        Action::Resolve { thread, mark: Some(_) } => format!("mark {thread}"),
        other => other.name().to_owned(),
    };
    steps.iter().map(name).collect()
}

/// The text of the first reply.
pub(crate) fn words(steps: &[Step]) -> &str {
    let reply = steps.iter().find_map(|step| match &step.action {
        Action::Reply { text, .. } => Some(text.words.as_str()),
        _ => None,
    });
    reply.expect("a reply is planned")
}

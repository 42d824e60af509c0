//! A forge without quirks, as a function: applies a step to a snapshot, and parses what was written as gather would.

use std::collections::BTreeMap;

use referee_core::facts::Facts;
use referee_core::mark::{Binding, Keys, TextHistory, TextReader, seal_draft};
use referee_core::model::checks::OwnStatus;
use referee_core::model::*;
use referee_core::plan::{Action, CommentTarget, NewThread, Step, TextDraft};
use referee_core::policy::RoleAccounts;
use referee_core::say::CommandPrefixes;
use referee_core::track::{CodeLocation, ObservedFinding, PriorFinding, Side, match_findings};

use crate::any::Scene;
use crate::pool::people;

impl Scene {
    /// Changes the snapshot as the step would change the forge.
    pub(crate) fn perform(&mut self, step: &Step) {
        let by = &step.by;
        match &step.action {
            Action::PostReview { verdict, commit, text, threads, .. } => self.post(by, *verdict, commit, text, threads),
            Action::OpenThreads { threads, .. } => self.open(by, None, threads),
            Action::EditReview { review, edit, text } | Action::Supersede { review, edit, text, .. } => {
                let text = self.written(text, by);
                let row = self.snapshot.reviews.iter_mut().find(|row| row.id == *review).expect("it is there");
                assert!(row.is_by(by) && row.edit.as_ref() == Some(edit), "only the author edits (PUB-9)");
                row.text = text;
            }
            Action::Reply { thread, text } => {
                let text = self.written(text, by);
                self.note(thread, by, text);
            }
            Action::Resolve { thread, mark } => {
                let mark = mark.as_ref().map(|(note, text)| (note.clone(), self.written(text, by)));
                let who = who(by);
                let thread = self.thread(thread);
                match mark {
                    None => thread.resolved = Some(Resolution { by: who, at: None }),
                    Some((note, text)) => {
                        let note = thread.notes.iter_mut().find(|it| it.id == note).expect("it is there");
                        assert!(note.author.has_login(by), "only the author edits (PUB-9)");
                        note.text = text;
                    }
                }
            }
            Action::EnsureComment { existing, target: CommentTarget::Pull, text } => {
                let text = self.written(text, by);
                match existing {
                    Some(id) => {
                        let row = self.snapshot.comments.iter_mut().find(|it| it.id == *id).expect("it is there");
                        assert!(row.author.has_login(by), "only the author edits (PUB-9)");
                        row.text = text;
                    }
                    None => self.comment(who(by), text),
                }
            }
            Action::SetLabel { name, on } => {
                self.snapshot.pull.labels.retain(|label| label.name != *name);
                let at = Some(self.snapshot.taken_at);
                let label = Label { name: name.clone(), by: Some(by.clone()), at };
                self.snapshot.pull.labels.extend(on.then_some(label));
            }
            Action::Assign { target: CommentTarget::Pull, who } => self.snapshot.pull.assignees.extend(who.clone()),
            Action::SetStatus { context, state, text, .. } => {
                let own = &mut self.snapshot.checks.own;
                own.retain(|it| it.context != *context);
                own.push(OwnStatus { context: context.clone(), state: *state, text: text.as_str().into() });
            }
            Action::EnsureComment { .. } | Action::Assign { .. } => panic!("no issue belongs to a pull's plan"),
        }
    }

    fn post(&mut self, by: &Login, verdict: Verdict, commit: &Sha, text: &TextDraft, threads: &[NewThread]) {
        let text = self.written(text, by);
        let id = ReviewId(format!("r{}", self.snapshot.reviews.len()));
        if verdict != Verdict::Comment {
            for row in self.snapshot.reviews.iter_mut().filter(|row| row.is_by(by) && row.counts == ReviewWeight::Yes) {
                row.counts = ReviewWeight::Replaced;
            }
        }
        self.snapshot.reviews.push(Review {
            edit: Some(EditId(format!("e{}", self.snapshot.reviews.len()))),
            id: id.clone(),
            author: who(by),
            row: ReviewKind::Verdict(verdict),
            text,
            commit: Some(commit.clone()),
            at: self.snapshot.taken_at,
            counts: if verdict == Verdict::Comment { ReviewWeight::No } else { ReviewWeight::Yes },
            url: String::new(),
        });
        self.snapshot.pull.requests.retain(|request| request.of != *by);
        self.open(by, Some(&id), threads);
    }

    fn open(&mut self, by: &Login, review: Option<&ReviewId>, threads: &[NewThread]) {
        for new in threads {
            let text = self.written(&new.text, by);
            let place = &new.place;
            let id = ThreadId(format!("t{}", self.snapshot.threads.len()));
            self.snapshot.threads.push(Thread {
                id: id.clone(),
                review: review.cloned(),
                path: Some(place.path.clone()),
                line: place.line,
                start_line: place.start_line,
                side: Side::New,
                notes: Vec::new(),
                resolved: None,
                outdated: false,
                can_resolve: true,
                can_reply: true,
                url: format!("https://forge.example/7#{id}"),
            });
            self.note(&id, by, text);
        }
    }

    pub(crate) fn thread(&mut self, id: &ThreadId) -> &mut Thread {
        self.snapshot.threads.iter_mut().find(|it| it.id == *id).expect("it is there")
    }

    pub(crate) fn note(&mut self, thread: &ThreadId, by: &Login, text: Text) {
        let at = self.snapshot.taken_at;
        let thread = self.thread(thread);
        let id = NoteId(format!("{}.{}", thread.id, thread.notes.len()));
        thread.notes.push(Note { id, author: who(by), at, edited: false, text });
    }

    pub(crate) fn comment(&mut self, author: Author, text: Text) {
        let id = CommentId(format!("c{}", self.snapshot.comments.len()));
        let at = self.snapshot.taken_at;
        self.snapshot.comments.push(Comment { id, author, at, edited: false, text, url: String::new() });
    }

    /// A draft as it is sent and read back.
    fn written(&self, draft: &TextDraft, by: &Login) -> Text {
        let sealed = seal_draft(draft, &Binding::from_pull(&self.snapshot.pull), &Keys::default());
        self.read(sealed.as_str(), &who(by))
    }

    /// Text of another author, parsed as gather does.
    pub(crate) fn read(&self, words: &str, author: &Author) -> Text {
        let (snapshot, policy) = (&self.snapshot, &self.policy);
        let viewer = &snapshot.viewer.login;
        let account = |role| match policy.accounts_of(role, viewer) {
            RoleAccounts::One(login) => Some(login.clone()),
            RoleAccounts::ReviewUsers(_) => None,
        };
        let roles: BTreeMap<RoleName, Option<Login>> =
            policy.roles.iter().map(|role| (role.name.clone(), account(role))).collect();
        let work = policy.work.iter().flat_map(|work| work.review_users.iter().chain([&work.user]));
        let own: Vec<Login> =
            roles.values().flatten().chain([viewer]).chain(&snapshot.viewer.holds).chain(work).cloned().collect();
        let reader = TextReader {
            binding: &Binding::from_pull(&snapshot.pull),
            keys: &Keys::default(),
            own_logins: &own,
            role_logins: &roles,
            calls: CommandPrefixes { bot_logins: &own, slash_reserved: snapshot.capabilities.slash_is_taken },
        };
        let mut text = Text::from_body(words);
        reader.read(&mut text, author, TextHistory { written_at: snapshot.taken_at, edited: false });
        text
    }

    /// Matches each raised finding with a prior one, as gather does in every turn.
    pub(crate) fn recognise(&mut self) {
        let mut reports = std::mem::take(&mut self.snapshot.evidence.reports);
        let facts = Facts::new(&self.snapshot, &self.policy);
        for report in &mut reports {
            let known = facts.role(&report.role).map_or(&[][..], |role| &role.known_findings);
            let location = |path: &str, line: Option<u32>| {
                let line = line.unwrap_or_default();
                CodeLocation { path: path.to_owned(), line, end_line: line }
            };
            let sighting =
                |rule: Option<&str>, title: &str, location, print: &referee_core::track::Fingerprint| ObservedFinding {
                    role: report.role.to_string(),
                    rule: rule.map(str::to_owned),
                    title: title.to_owned(),
                    location,
                    fingerprint: print.clone(),
                    anchor: None,
                };
            let priors: Vec<PriorFinding> = known
                .iter()
                .map(|it| PriorFinding {
                    observed: sighting(it.rule, it.title, location(it.path, it.line), it.fingerprint),
                    track: it.track.map(|tracked| tracked.track.clone()),
                })
                .collect();
            let seen: Vec<ObservedFinding> = report
                .findings
                .iter()
                .map(|it| sighting(it.rule.as_deref(), &it.title, location(&it.path, it.line), &it.fingerprint))
                .collect();
            let same: Vec<Option<usize>> = match_findings(&priors, &seen);
            for (raised, same) in report.findings.iter_mut().zip(same) {
                raised.same_as = same.and_then(|at| known.get(at)).map(|known| known.id);
            }
        }
        self.snapshot.evidence.reports = reports;
    }
}

fn who(login: &Login) -> Author {
    let known = people().into_iter().find(|it| it.has_login(login));
    known.unwrap_or_else(|| Author { login: Some(login.clone()), bot: true, access: Access::Write })
}

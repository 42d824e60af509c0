//! Actions of people in a scenario, recorded in its transcript.

use referee_core::model::{FindingId, ReviewId, ThreadId};

use super::ScenarioRun;
use crate::person::WorldPerson;

/// A person who acts in a scenario.
#[derive(Debug)]
pub struct ScenarioActor<'s> {
    pub(super) run: &'s mut ScenarioRun,
    pub(super) person: WorldPerson,
}

impl<'s> ScenarioActor<'s> {
    /// Pushes a commit that replaces the text of one file.
    #[track_caller]
    pub fn pushes(self, path: &str, text: &str) -> &'s mut ScenarioRun {
        let head = self.person.push(path, |_| text.to_owned());
        self.record(&format!("pushes {path}: {}", head.short()))
    }

    /// Pushes a commit that replaces one line of a file.
    #[track_caller]
    pub fn changes_line(self, path: &str, line: usize, text: &str) -> &'s mut ScenarioRun {
        let head = self.person.push(path, |before| {
            let lines = before.lines().enumerate();
            lines.map(|(index, old)| if index + 1 == line { format!("{text}\n") } else { format!("{old}\n") }).collect()
        });
        self.record(&format!("changes line {line} of {path}: {}", head.short()))
    }

    /// Pushes a commit that renames a file.
    #[track_caller]
    pub fn renames(self, from: &str, to: &str) -> &'s mut ScenarioRun {
        let head = self.person.rename(from, to);
        self.record(&format!("renames {from} to {to}: {}", head.short()))
    }

    /// Pushes to the base branch and rebases onto it.
    #[track_caller]
    pub fn rebases(self) -> &'s mut ScenarioRun {
        self.person.push_base("src/base.rs", |text| format!("{text}fn base() {{}}\n"));
        let head = self.person.rebase();
        self.record(&format!("rebases: {}", head.short()))
    }

    /// Force-pushes the same patch.
    #[track_caller]
    pub fn amends(self) -> &'s mut ScenarioRun {
        let head = self.person.amend();
        self.record(&format!("force-pushes the same change: {}", head.short()))
    }

    /// Replies in a finding's thread.
    #[track_caller]
    pub fn replies(self, finding: u64, text: &str) -> &'s mut ScenarioRun {
        let thread = self.find_thread(finding);
        self.person.reply(&thread, text);
        self.record(&format!("replies to F{finding}: {text}"))
    }

    /// Resolves a finding's thread.
    #[track_caller]
    pub fn resolves(self, finding: u64) -> &'s mut ScenarioRun {
        let thread = self.find_thread(finding);
        self.person.resolve(&thread);
        self.record(&format!("resolves the thread of F{finding}"))
    }

    /// Reopens a finding's resolved thread.
    #[track_caller]
    pub fn unresolves(self, finding: u64) -> &'s mut ScenarioRun {
        let thread = self.find_thread(finding);
        self.person.unresolve(&thread);
        self.record(&format!("reopens the thread of F{finding}"))
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comments(self, text: &str) -> &'s mut ScenarioRun {
        self.person.comment(text);
        self.record(&format!("comments: {}", text.lines().next().unwrap_or_default()))
    }

    /// Comments with a command for the bot.
    #[track_caller]
    pub fn commands(self, verb: &str) -> &'s mut ScenarioRun {
        let text = format!("@{} {verb}", crate::simulation::bot_login());
        self.comments(&text)
    }

    /// Requests changes.
    #[track_caller]
    pub fn blocks(self, text: &str) -> &'s mut ScenarioRun {
        self.person.block(text);
        self.record(&format!("asks for changes: {text}"))
    }

    #[track_caller]
    pub fn approves(self) -> &'s mut ScenarioRun {
        self.person.approve("good");
        self.record("approves")
    }

    /// Posts a review without a verdict.
    #[track_caller]
    pub fn reviews_without_verdict(self, text: &str) -> &'s mut ScenarioRun {
        self.person.review_without_verdict(text);
        self.record("reviews without a verdict")
    }

    /// Requests another review from the bot.
    #[track_caller]
    pub fn requests_review_again(self) -> &'s mut ScenarioRun {
        self.person.request_review(crate::simulation::bot_login().as_str());
        self.record("asks for another review")
    }

    /// Dismisses the bot's newest review.
    #[track_caller]
    pub fn dismisses(self) -> &'s mut ScenarioRun {
        let review = self.newest_bot_review();
        self.person.dismiss(&review);
        self.record("dismisses the bot's review")
    }

    /// Prepends text to the bot's newest review, and keeps its hidden part.
    #[track_caller]
    pub fn edits_summary(self, prefix: &str) -> &'s mut ScenarioRun {
        let review = self.newest_bot_review();
        let text = self.run.review_text(&review);
        self.person.edit_review(&review, &format!("{prefix}\n\n{text}"));
        self.record("edits the bot's summary")
    }

    /// Replaces the text of the bot's newest review, hidden part included.
    #[track_caller]
    pub fn replaces_summary(self, change: impl FnOnce(&str) -> String) -> &'s mut ScenarioRun {
        let review = self.newest_bot_review();
        let text = change(&self.run.review_text(&review));
        self.person.edit_review(&review, &text);
        self.record("replaces the bot's summary")
    }

    /// Closes and reopens the pull.
    #[track_caller]
    pub fn reopens(self) -> &'s mut ScenarioRun {
        self.person.close();
        self.person.reopen();
        self.record("closes and reopens")
    }

    /// Performs any other action, recorded as `what`.
    #[track_caller]
    pub fn does(self, what: &str, action: impl FnOnce(&WorldPerson)) -> &'s mut ScenarioRun {
        action(&self.person);
        self.record(what)
    }

    #[track_caller]
    fn find_thread(&self, finding: u64) -> ThreadId {
        let thread = self.run.find_thread(FindingId(finding));
        thread.unwrap_or_else(|| panic!("F{finding} has no thread")).id
    }

    #[track_caller]
    fn newest_bot_review(&self) -> ReviewId {
        let own = self.run.own_reviews();
        own.last().unwrap_or_else(|| panic!("the bot has no review")).id.clone()
    }

    fn record(self, what: &str) -> &'s mut ScenarioRun {
        let event = format!("{} {what}", self.person.login());
        self.run.record(event);
        self.run
    }
}

//! What people do, told as it is done.

use referee_core::model::{FindingId, ReviewId, ThreadId};

use super::Scene;
use crate::hand::Person;

/// Somebody who acts in a scene.
#[derive(Debug)]
pub struct By<'s> {
    pub(super) scene: &'s mut Scene,
    pub(super) person: Person,
}

impl<'s> By<'s> {
    /// Pushes a commit with another text of one file.
    #[track_caller]
    pub fn pushes(self, path: &str, text: &str) -> &'s mut Scene {
        let head = self.person.push(path, |_| text.to_owned());
        self.tell(&format!("pushes {path}: {}", head.short()))
    }

    /// Pushes a commit in which one line of a file reads differently.
    #[track_caller]
    pub fn changes_line(self, path: &str, line: usize, text: &str) -> &'s mut Scene {
        let head = self.person.push(path, |before| {
            let lines = before.lines().enumerate();
            lines.map(|(at, old)| if at + 1 == line { format!("{text}\n") } else { format!("{old}\n") }).collect()
        });
        self.tell(&format!("changes line {line} of {path}: {}", head.short()))
    }

    /// Gives a file another name.
    #[track_caller]
    pub fn renames(self, from: &str, to: &str) -> &'s mut Scene {
        let head = self.person.rename(from, to);
        self.tell(&format!("renames {from} to {to}: {}", head.short()))
    }

    /// Rebases onto a base that moved.
    #[track_caller]
    pub fn rebases(self) -> &'s mut Scene {
        self.person.push_base("src/base.rs", |text| format!("{text}fn base() {{}}\n"));
        let head = self.person.rebase();
        self.tell(&format!("rebases: {}", head.short()))
    }

    /// Force-pushes the same change.
    #[track_caller]
    pub fn amends(self) -> &'s mut Scene {
        let head = self.person.amend();
        self.tell(&format!("force-pushes the same change: {}", head.short()))
    }

    /// Replies in a finding's thread.
    #[track_caller]
    pub fn replies(self, finding: u64, text: &str) -> &'s mut Scene {
        let thread = self.thread(finding);
        self.person.reply(&thread, text);
        self.tell(&format!("replies to F{finding}: {text}"))
    }

    /// Resolves a finding's thread.
    #[track_caller]
    pub fn resolves(self, finding: u64) -> &'s mut Scene {
        let thread = self.thread(finding);
        self.person.resolve(&thread);
        self.tell(&format!("resolves the thread of F{finding}"))
    }

    /// Opens a finding's resolved thread again.
    #[track_caller]
    pub fn unresolves(self, finding: u64) -> &'s mut Scene {
        let thread = self.thread(finding);
        self.person.unresolve(&thread);
        self.tell(&format!("opens the thread of F{finding} again"))
    }

    /// Comments on the pull.
    #[track_caller]
    pub fn comments(self, text: &str) -> &'s mut Scene {
        self.person.comment(text);
        self.tell(&format!("comments: {}", text.lines().next().unwrap_or_default()))
    }

    /// Gives the bot a command.
    #[track_caller]
    pub fn commands(self, verb: &str) -> &'s mut Scene {
        let text = format!("@{} {verb}", crate::play::bot());
        self.comments(&text)
    }

    /// Asks for changes.
    #[track_caller]
    pub fn blocks(self, text: &str) -> &'s mut Scene {
        self.person.block(text);
        self.tell(&format!("asks for changes: {text}"))
    }

    /// Approves.
    #[track_caller]
    pub fn approves(self) -> &'s mut Scene {
        self.person.approve("good");
        self.tell("approves")
    }

    /// Reviews with any text and no verdict.
    #[track_caller]
    pub fn remarks(self, text: &str) -> &'s mut Scene {
        self.person.remark(text);
        self.tell("reviews without a verdict")
    }

    /// Asks for the bot's review again.
    #[track_caller]
    pub fn asks_again(self) -> &'s mut Scene {
        self.person.request(crate::play::bot().as_str());
        self.tell("asks for another review")
    }

    /// Dismisses the bot's newest review.
    #[track_caller]
    pub fn dismisses(self) -> &'s mut Scene {
        let review = self.newest_own();
        self.person.dismiss(&review);
        self.tell("dismisses the bot's review")
    }

    /// Changes the words of the bot's newest review, and keeps what is hidden in it.
    #[track_caller]
    pub fn scribbles(self, words: &str) -> &'s mut Scene {
        let review = self.newest_own();
        let text = self.scene.review_text(&review);
        self.person.edit_review(&review, &format!("{words}\n\n{text}"));
        self.tell("edits the bot's summary")
    }

    /// Closes the pull and opens it again.
    #[track_caller]
    pub fn reopens(self) -> &'s mut Scene {
        self.person.close();
        self.person.reopen();
        self.tell("closes and reopens")
    }

    /// Does anything else.
    #[track_caller]
    pub fn does(self, what: &str, deed: impl FnOnce(&Person)) -> &'s mut Scene {
        deed(&self.person);
        self.tell(what)
    }

    #[track_caller]
    fn thread(&self, finding: u64) -> ThreadId {
        let thread = self.scene.thread(FindingId(finding));
        thread.unwrap_or_else(|| panic!("F{finding} has no thread")).id
    }

    #[track_caller]
    fn newest_own(&self) -> ReviewId {
        let own = self.scene.own_reviews();
        own.last().unwrap_or_else(|| panic!("the bot has no review")).id.clone()
    }

    fn tell(self, what: &str) -> &'s mut Scene {
        let words = format!("{} {what}", self.person.login());
        self.scene.happened(words);
        self.scene
    }
}

//! Labels, assignees, checks, issues, and changes of a person's access.

use referee_core::model::{Access, CheckState, IssueNumber, Login};
use referee_core::plan::CommentTarget;
use referee_forge::ForgeError;

use super::WorldPerson;
use crate::world::{StoredIssue, StoredUser, add_label};

impl WorldPerson {
    /// Adds a label to the pull.
    #[track_caller]
    pub fn label(&self, name: &str) {
        self.act("label", |repo, pull| repo.label(pull, &self.login, name));
    }

    /// Removes a label, no matter who added it.
    #[track_caller]
    pub fn unlabel(&self, name: &str) {
        self.act("unlabel", |repo, pull| repo.unlabel(pull, &self.login, name));
    }

    #[track_caller]
    pub fn assign(&self, who: &str) {
        self.act("assign", |repo, pull| {
            let assignees = repo.assignees_mut(pull, CommentTarget::Pull)?;
            assignees.retain(|login| *login != Login::from(who));
            assignees.push(who.into());
            Ok::<_, ForgeError>(())
        });
    }

    #[track_caller]
    pub fn assign_issue(&self, issue: IssueNumber, who: &str) {
        let assigned =
            self.world.tick_and_change(|repo| repo.issue_mut(issue).map(|row| row.assignees.push(who.into())));
        self.expect_ok("assign the issue", assigned);
    }

    /// Removes an assignee.
    #[track_caller]
    pub fn unassign(&self, who: &str) {
        self.act("unassign", |repo, pull| {
            repo.assignees_mut(pull, CommentTarget::Pull).map(|all| all.retain(|login| *login != Login::from(who)))
        });
    }

    /// Reports a check at the head, as a CI server does.
    #[track_caller]
    pub fn report_check(&self, name: &str, state: CheckState) {
        self.act("report a check", |repo, pull| {
            let head = repo.pull(pull)?.head.clone();
            repo.set_status(&head, name, state, "");
            Ok::<_, ForgeError>(())
        });
    }

    pub fn open_issue(&self, labels: &[&str]) -> IssueNumber {
        self.world.tick_and_change(|repo| {
            let number = IssueNumber(repo.next_number());
            let mut row = StoredIssue { open: true, labels: Vec::new(), assignees: Vec::new(), comments: Vec::new() };
            for label in labels {
                repo.create_label(label);
                add_label(&mut row.labels, label, &self.login, repo.now);
            }
            repo.issues.insert(number, row);
            number
        })
    }

    #[track_caller]
    pub fn close_issue(&self, issue: IssueNumber) {
        let closed = self.world.tick_and_change(|repo| repo.issue_mut(issue).map(|row| row.open = false));
        self.expect_ok("close the issue", closed);
    }

    /// Loses write access. Their texts stay, and verdicts that counted keep counting.
    pub fn lose_write_access(&self) {
        self.world.tick_and_change(|repo| {
            let user = StoredUser { access: Access::Read, bot: false, deleted: false };
            repo.users.entry(self.login.clone()).or_insert(user).access = Access::Read;
        });
    }

    /// Deletes the account. Their texts stay without an author.
    pub fn delete_account(&self) {
        self.world.tick_and_change(|repo| {
            let user = StoredUser { access: Access::Read, bot: false, deleted: true };
            repo.users.entry(self.login.clone()).or_insert(user).deleted = true;
        });
    }
}

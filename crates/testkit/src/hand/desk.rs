//! Labels, assignees, checks, issues, and people who come and go.

use referee_core::model::{Access, CheckState, IssueNumber, Login};
use referee_core::plan::Target;
use referee_forge::ForgeError;

use super::Person;
use crate::world::{StoredIssue, User, add_label};

impl Person {
    /// Puts a label on the pull.
    #[track_caller]
    pub fn label(&self, name: &str) {
        self.deed("label", |repo, pull| repo.label(pull, &self.login, name));
    }

    /// Takes a label off, whoever put it on.
    #[track_caller]
    pub fn unlabel(&self, name: &str) {
        self.deed("unlabel", |repo, pull| repo.unlabel(pull, &self.login, name));
    }

    /// Assigns somebody.
    #[track_caller]
    pub fn assign(&self, who: &str) {
        self.deed("assign", |repo, pull| {
            let assignees = repo.assignees(pull, Target::Pull)?;
            assignees.retain(|login| *login != Login::from(who));
            assignees.push(who.into());
            Ok::<_, ForgeError>(())
        });
    }

    /// Assigns somebody to an issue.
    #[track_caller]
    pub fn assign_issue(&self, issue: IssueNumber, who: &str) {
        let assigned = self.world.deed(|repo| repo.issue_mut(issue).map(|row| row.assignees.push(who.into())));
        self.sure("assign the issue", assigned);
    }

    /// Takes somebody off.
    #[track_caller]
    pub fn unassign(&self, who: &str) {
        self.deed("unassign", |repo, pull| {
            repo.assignees(pull, Target::Pull).map(|all| all.retain(|login| *login != Login::from(who)))
        });
    }

    /// Reports a check at the head, as a build server does.
    #[track_caller]
    pub fn check(&self, name: &str, state: CheckState) {
        self.deed("report a check", |repo, pull| {
            let head = repo.pull(pull)?.head.clone();
            repo.set_status(&head, name, state, "");
            Ok::<_, ForgeError>(())
        });
    }

    /// Opens an issue.
    pub fn open_issue(&self, labels: &[&str]) -> IssueNumber {
        self.world.deed(|repo| {
            let number = IssueNumber(repo.next_number());
            let mut row = StoredIssue { open: true, labels: Vec::new(), assignees: Vec::new(), comments: Vec::new() };
            for label in labels {
                repo.offer_label(label);
                add_label(&mut row.labels, label, &self.login, repo.now);
            }
            repo.issues.insert(number, row);
            number
        })
    }

    /// Closes an issue.
    #[track_caller]
    pub fn close_issue(&self, issue: IssueNumber) {
        let closed = self.world.deed(|repo| repo.issue_mut(issue).map(|row| row.open = false));
        self.sure("close the issue", closed);
    }

    /// Loses write access; what they said stays, and what counted still counts.
    pub fn leave(&self) {
        self.world.deed(|repo| {
            let user = User { access: Access::Read, bot: false, deleted: false };
            repo.users.entry(self.login.clone()).or_insert(user).access = Access::Read;
        });
    }

    /// Is deleted: their words stand without a name.
    pub fn vanish(&self) {
        self.world.deed(|repo| {
            let user = User { access: Access::Read, bot: false, deleted: true };
            repo.users.entry(self.login.clone()).or_insert(user).deleted = true;
        });
    }
}

//! The board: a repository's open pulls and issues.

use referee_core::model::{
    Author, Board, Comment, CommentId, Completeness, Issue, IssueNumber, Label, PullNumber, RepoId, Text,
};
use referee_http::RouteRequest;

use super::pull::is_edited;
use crate::ForgeError;
use crate::gitea::account::GiteaAccount;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{self, User, login, parse_time};
use crate::gitea::{GiteaForge, routes};

/// Which issues a board contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IssueSelection {
    All,
    UnlessPullsAreOpen,
}

impl GiteaForge {
    pub(super) async fn read_board(&self) -> Result<Board, ForgeError> {
        self.build_board(&self.list_open_rows().await?, IssueSelection::All).await
    }

    /// Builds the board from the rows of the open pulls.
    pub(super) async fn build_board(
        &self,
        pulls: &Listing<wire::Pull>,
        which: IssueSelection,
    ) -> Result<Board, ForgeError> {
        let mut board = Board {
            forge: self.server.flavour.to_string(),
            viewer: self.viewer(),
            taken_at: pulls.taken_at,
            pulls: pulls.items.iter().map(|row| PullNumber(row.number)).collect(),
            ..Board::default()
        };
        board.repo = match pulls.items.iter().find_map(|row| row.base.repo.as_ref()) {
            Some(repo) => RepoId(repo.id),
            None => RepoId(self.fetch_repository().await?.id),
        };
        if which == IssueSelection::All || board.pulls.is_empty() {
            board.issues = self.read_issues().await?;
        }
        Ok(board)
    }

    /// Reads the open issues, lowest number first.
    async fn read_issues(&self) -> Result<Vec<Issue>, ForgeError> {
        let account = self.reader_account()?;
        let issues = RouteRequest::new(&routes::ISSUES, self.route_params([]))
            .with_query("state", "open")
            .with_query("type", "issues");
        let issues = account.read_pages(&issues, "the open issues", |rows: Vec<wire::Issue>| rows).await?;
        let mut told = Vec::new();
        for row in require_complete(issues)? {
            let comments =
                if row.comments > 0 { self.read_issue_comments(account, row.number).await? } else { Some(Vec::new()) };
            told.push(Issue {
                is_unread: comments.is_none(),
                number: IssueNumber(row.number),
                title: row.title,
                text: Text::from_untrusted_body(&row.body),
                labels: row.labels.into_iter().map(|label| Label { name: label.name, by: None, at: None }).collect(),
                assignees: row.assignees.iter().filter_map(User::login).collect(),
                comments: comments.unwrap_or_default(),
            });
        }
        told.sort_by_key(|issue: &Issue| issue.number);
        Ok(told)
    }

    /// Reads the comments of an issue; `None` if there is too much of them.
    async fn read_issue_comments(
        &self,
        account: &GiteaAccount,
        number: u64,
    ) -> Result<Option<Vec<Comment>>, ForgeError> {
        match self.read_comments(account, number).await {
            Err(ForgeError::TooLarge(_)) => Ok(None),
            rows => Ok(Some(rows?.into_iter().map(build_issue_comment).collect())),
        }
    }
}

fn build_issue_comment(row: wire::Comment) -> Comment {
    Comment {
        id: CommentId(row.id.to_string()),
        author: Author { login: login(row.user.as_ref()), ..Author::default() },
        at: parse_time(&row.created_at),
        edited: is_edited(&row.created_at, &row.updated_at),
        text: Text::from_untrusted_body(&row.body),
        url: row.html_url,
    }
}

/// Returns the rows of a complete list; a board cannot say that a list was cut off.
fn require_complete<T>(listing: Listing<T>) -> Result<Vec<T>, ForgeError> {
    match listing.complete {
        Completeness::Complete => Ok(listing.items),
        Completeness::Truncated { what, .. } => Err(ForgeError::TooLarge(what)),
    }
}

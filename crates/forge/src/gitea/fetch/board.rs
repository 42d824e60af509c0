//! A repository's open pulls and issues.

use referee_core::model::{
    Author, Board, Comment, CommentId, Completeness, Issue, IssueNumber, Label, PullNumber, RepoId, Text,
};
use referee_http::Call;

use super::pull::edited;
use crate::ForgeError;
use crate::gitea::hand::Hand;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{self, User, login, time};
use crate::gitea::{GiteaForge, routes};

/// Which issues a board has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Issues {
    All,
    UnlessPullsAreOpen,
}

impl GiteaForge {
    pub(super) async fn read_board(&self) -> Result<Board, ForgeError> {
        self.told_board(&self.open_rows().await?, Issues::All).await
    }

    /// The board of these pulls.
    pub(super) async fn told_board(&self, pulls: &Listing<wire::Pull>, which: Issues) -> Result<Board, ForgeError> {
        let mut board = Board {
            forge: self.server.flavour.to_string(),
            viewer: self.viewer(),
            taken_at: pulls.taken_at,
            pulls: pulls.items.iter().map(|row| PullNumber(row.number)).collect(),
            ..Board::default()
        };
        board.repo = match pulls.items.iter().find_map(|row| row.base.repo.as_ref()) {
            Some(repo) => RepoId(repo.id),
            None => RepoId(self.repository().await?.id),
        };
        if which == Issues::All || board.pulls.is_empty() {
            board.issues = self.issues().await?;
        }
        Ok(board)
    }

    /// The open ones, by number.
    async fn issues(&self) -> Result<Vec<Issue>, ForgeError> {
        let hand = self.reader()?;
        let issues = Call::new(&routes::ISSUES, self.places([])).with("state", "open").with("type", "issues");
        let issues = hand.pages(&issues, "the open issues", |rows: Vec<wire::Issue>| rows).await?;
        let mut told = Vec::new();
        for row in whole(issues)? {
            let comments = if row.comments > 0 { self.comments_of(hand, row.number).await? } else { Vec::new() };
            told.push(Issue {
                number: IssueNumber(row.number),
                title: row.title,
                text: Text::unread(row.body),
                labels: row.labels.into_iter().map(|label| Label { name: label.name, by: None, at: None }).collect(),
                assignees: row.assignees.iter().filter_map(User::login).collect(),
                comments,
            });
        }
        told.sort_by_key(|issue: &Issue| issue.number);
        Ok(told)
    }

    /// The server gives all of them at once.
    async fn comments_of(&self, hand: &Hand, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let call = Call::new(&routes::COMMENTS, self.places([&number]));
        let rows: Vec<wire::Comment> = hand.read(&call, &format!("the comments of #{number}")).await?;
        let told = |row: wire::Comment| Comment {
            id: CommentId(row.id.to_string()),
            author: Author { login: login(row.user.as_ref()), ..Author::default() },
            at: time(&row.created_at),
            edited: edited(&row.created_at, &row.updated_at),
            text: Text::unread(row.body),
            url: row.html_url,
        };
        Ok(rows.into_iter().map(told).collect())
    }
}

/// A board has no word for a list that was cut off, and half of one is none.
fn whole<T>(listing: Listing<T>) -> Result<Vec<T>, ForgeError> {
    match listing.complete {
        Completeness::Complete => Ok(listing.items),
        Completeness::Truncated { what } => Err(ForgeError::Unreadable(format!("{what}: there are too many"))),
    }
}

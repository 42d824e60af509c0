//! What a repository says of its branches: which pull is of one, and whose files count.

use std::collections::BTreeMap;

use referee_core::model::{Pull, PullNumber, Sha};
use referee_http::RouteRequest;

use super::account::GiteaAccount;
use super::{GiteaForge, routes, wire};
use crate::ForgeError;

/// An open pull, as a list names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPullSummary {
    /// Its number.
    pub number: PullNumber,
    /// Its title.
    pub title: String,
    /// The branch it comes from.
    pub head_branch: String,
    /// The repository of that branch, `acme/api`; none once a fork is gone.
    pub head_repo: Option<String>,
    /// The last commit of that branch.
    pub head: Sha,
    /// The branch it goes into.
    pub base: String,
}

impl GiteaForge {
    /// The repository's open pulls, latest first.
    pub async fn list_open_pulls(&self) -> Result<Vec<OpenPullSummary>, ForgeError> {
        let listed = |row: wire::Pull| OpenPullSummary {
            number: PullNumber(row.number),
            title: row.title,
            head_branch: row.head.branch,
            head_repo: row.head.repo.map(|repo| repo.full_name),
            head: Sha(row.head.sha),
            base: row.base.branch,
        };
        Ok(self.list_open_rows().await?.items.into_iter().rev().map(listed).collect())
    }

    /// The branch and commit whose config and guidance count for a pull (SAF-2): those of its base, if only people with
    /// rights get something in there; else those of the default branch.
    pub async fn resolve_trusted_commit(&self, pull: &Pull) -> Result<(String, Sha), ForgeError> {
        let default = self.load_default_branch().await?;
        if pull.base == default || self.fetch_branch(&pull.base).await?.protected {
            return Ok((pull.base.clone(), pull.base_sha.clone()));
        }
        let commit = self.fetch_branch(&default).await?.commit.id;
        Ok((default, Sha(commit)))
    }

    /// The default branch and its last commit: whose config counts where no pull is looked at.
    pub async fn fetch_default_tip(&self) -> Result<(String, Sha), ForgeError> {
        let default = self.load_default_branch().await?;
        let commit = self.fetch_branch(&default).await?.commit.id;
        Ok((default, Sha(commit)))
    }

    /// Whether a branch takes a push of that identity; one that is gone does not.
    pub(super) async fn branch_allows_push(&self, hand: &GiteaAccount, name: &str) -> Result<bool, ForgeError> {
        let call = RouteRequest::new(&routes::BRANCH, self.route_params([&name]));
        match hand.send_and_parse::<wire::Branch>(&call, &format!("the branch {name}")).await {
            Ok(branch) => Ok(branch.user_can_push != Some(false)),
            Err(ForgeError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The repository's labels by their ids.
    pub async fn fetch_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        let call = RouteRequest::new(&routes::LABELS, self.route_params([]));
        let listing = self.reader_account()?.read_pages(&call, "the labels", |rows: Vec<wire::Label>| rows).await?;
        Ok(listing.items.into_iter().map(|row| (row.id, row.name)).collect())
    }

    /// A pull says it in passing.
    async fn load_default_branch(&self) -> Result<String, ForgeError> {
        if let Some(known) = self.default_branch.get() {
            return Ok(known.clone());
        }
        Ok(self.fetch_repository().await?.default_branch)
    }

    /// The repository itself.
    pub(super) async fn fetch_repository(&self) -> Result<wire::Repo, ForgeError> {
        let what = format!("{}/{}", self.owner, self.repo);
        self.reader_account()?.send_and_parse(&RouteRequest::new(&routes::REPO, self.route_params([])), &what).await
    }

    async fn fetch_branch(&self, name: &str) -> Result<wire::Branch, ForgeError> {
        let call = RouteRequest::new(&routes::BRANCH, self.route_params([&name]));
        self.reader_account()?.send_and_parse(&call, &format!("the branch {name}")).await
    }
}

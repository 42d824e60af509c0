//! Branches, labels and the list of open pulls.

use std::collections::BTreeMap;

use referee_core::model::{Pull, PullNumber, Sha};
use referee_http::RouteRequest;

use super::account::GiteaAccount;
use super::{GiteaForge, routes, wire};
use crate::{BranchTip, ForgeError, ListedPull};

impl GiteaForge {
    /// Lists the open pulls, newest first.
    pub(super) async fn read_open_pulls(&self) -> Result<Vec<ListedPull>, ForgeError> {
        let listed = |row: wire::Pull| ListedPull {
            number: PullNumber(row.number),
            title: row.title,
            head_branch: row.head.branch,
            head_repo: row.head.repo.map(|repo| repo.full_name),
            head: Sha(row.head.sha),
            base: row.base.branch,
        };
        Ok(self.list_open_rows().await?.items.into_iter().rev().map(listed).collect())
    }

    /// Returns the branch whose config and guidance apply to a pull (SAF-2): its base if that is the default branch or
    /// protected, otherwise the default branch.
    pub(super) async fn read_trusted_base(&self, pull: &Pull) -> Result<BranchTip, ForgeError> {
        let default = self.load_default_branch().await?;
        if pull.base == default || self.fetch_branch(&pull.base).await?.protected {
            return Ok(BranchTip { name: pull.base.clone(), commit: pull.base_sha.clone() });
        }
        self.read_branch_tip(default).await
    }

    pub(super) async fn read_default_branch(&self) -> Result<BranchTip, ForgeError> {
        let default = self.load_default_branch().await?;
        self.read_branch_tip(default).await
    }

    /// Returns whether that identity may push to a branch; `false` if the branch is gone.
    pub(super) async fn branch_allows_push(&self, account: &GiteaAccount, name: &str) -> Result<bool, ForgeError> {
        let call = RouteRequest::new(&routes::BRANCH, self.route_params([&name]));
        match account.send_and_parse::<wire::Branch>(&call, &format!("the branch {name}")).await {
            Ok(branch) => Ok(branch.user_can_push != Some(false)),
            Err(ForgeError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn read_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        let call = RouteRequest::new(&routes::LABELS, self.route_params([]));
        let listing = self.reader_account()?.read_pages(&call, "the labels", |rows: Vec<wire::Label>| rows).await?;
        Ok(listing.items.into_iter().map(|row| (row.id, row.name)).collect())
    }

    /// Returns the name of the default branch: from the last pull response, otherwise from the repository.
    async fn load_default_branch(&self) -> Result<String, ForgeError> {
        if let Some(known) = self.default_branch.get() {
            return Ok(known.clone());
        }
        Ok(self.fetch_repository().await?.default_branch)
    }

    pub(super) async fn fetch_repository(&self) -> Result<wire::Repo, ForgeError> {
        let what = format!("{}/{}", self.owner, self.repo);
        self.reader_account()?.send_and_parse(&RouteRequest::new(&routes::REPO, self.route_params([])), &what).await
    }

    async fn read_branch_tip(&self, name: String) -> Result<BranchTip, ForgeError> {
        let commit = Sha(self.fetch_branch(&name).await?.commit.id);
        Ok(BranchTip { name, commit })
    }

    async fn fetch_branch(&self, name: &str) -> Result<wire::Branch, ForgeError> {
        let call = RouteRequest::new(&routes::BRANCH, self.route_params([&name]));
        self.reader_account()?.send_and_parse(&call, &format!("the branch {name}")).await
    }
}

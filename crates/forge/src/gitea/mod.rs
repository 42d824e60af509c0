//! The adapter for Gitea and Forgejo, which share most of their interface. What a server can do follows from its version.
//!
//! `GiteaForge` reads as the first identity and writes as the one that a step names.

mod account;
mod branches;
mod capabilities;
mod claim;
mod connect;
mod fetch;
mod hook;
mod inspect;
mod open;
mod pages;
mod perform;
mod probe;
mod routes;
#[cfg(test)]
mod scripted_server;
mod wire;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use account::GiteaAccount;
use claim::TakenClaims;
use pages::{Listing, MAX_ROW_BYTES};
use referee_core::model::{Capabilities, Completeness, Login, PullNumber, Time, Viewer};
use referee_http::{ClientOptions, RequestCounts, RouteRequest};
use serde::{Deserialize, Serialize};

pub(crate) use self::connect::GiteaDriver;
use crate::{ForgeError, ForgeInfo, ForgeKind};

/// The software of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Flavour {
    Gitea,
    Forgejo,
}

/// A repository on a Gitea or Forgejo server.
#[derive(Clone, Debug)]
struct GiteaForge {
    client_options: ClientOptions,
    owner: String,
    repo: String,
    server: GiteaServerInfo,
    /// The first one reads.
    accounts: Vec<GiteaAccount>,
    /// Requests of clients that are gone: probes, and tokens whose login was already held.
    earlier_requests: RequestCounts,
    /// The name of the default branch, taken from the last pull response.
    default_branch: OnceLock<String>,
    taken_claims: TakenClaims,
}

/// The result of probing a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GiteaServerInfo {
    flavour: Flavour,
    version: String,
    capabilities: Capabilities,
}

impl GiteaForge {
    fn describe(&self) -> ForgeInfo {
        let viewer = self.viewer();
        let base = &self.client_options.base_url;
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}{}", base.host_str().unwrap_or_default(), base.path().trim_end_matches('/'));
        ForgeInfo {
            kind: self.server.flavour.kind(),
            version: self.server.version.clone(),
            held_logins: self.accounts.iter().map(|account| account.login.clone()).collect(),
            capabilities: self.server.capabilities.clone(),
            // The number is the version of the memento's format.
            cache_scope: format!("gitea/2/{host}/{}/{}/{}", self.owner, self.repo, viewer.login),
            login: viewer.login,
        }
    }

    /// Counts the requests that all identities sent.
    fn count_requests(&self) -> RequestCounts {
        self.accounts
            .iter()
            .map(|account| account.client.request_counts())
            .fold(self.earlier_requests, |sum, it| sum + it)
    }

    /// Returns the identity that reads.
    fn reader_account(&self) -> Result<&GiteaAccount, ForgeError> {
        self.accounts.first().ok_or(ForgeError::Unauthenticated)
    }

    /// Returns the identity with that login.
    fn find_account(&self, login: &Login) -> Result<&GiteaAccount, ForgeError> {
        let named = |account: &&GiteaAccount| account.login == *login;
        self.accounts.iter().find(named).ok_or(ForgeError::Unauthenticated)
    }

    fn viewer(&self) -> Viewer {
        let holds: BTreeSet<Login> = self.accounts.iter().map(|account| account.login.clone()).collect();
        let login = self.accounts.first().map_or_else(|| Login(String::new()), |account| account.login.clone());
        Viewer { login, holds }
    }

    /// Returns the parameters of a route: owner, repository, and those given.
    fn route_params<const N: usize>(&self, more: [&dyn ToString; N]) -> Vec<String> {
        let more = more.into_iter().map(ToString::to_string);
        [self.owner.clone(), self.repo.clone()].into_iter().chain(more).collect()
    }

    /// Reads the list of reviews as that identity sees it: with its own draft, without those of others.
    async fn read_reviews(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
    ) -> Result<Listing<wire::Review>, ForgeError> {
        let call = RouteRequest::new(&routes::REVIEWS, self.route_params([&number.0]));
        account.read_pages(&call, &format!("the reviews of {number}"), |rows: Vec<wire::Review>| rows).await
    }

    /// Reads the inline comments of a review, oldest first. The server returns all of them on one page, in any order.
    async fn read_review_comments(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
        review: u64,
    ) -> Result<Vec<wire::Inline>, ForgeError> {
        let call = RouteRequest::new(&routes::REVIEW_COMMENTS, self.route_params([&number.0, &review]))
            .with_max_response_bytes(MAX_ROW_BYTES);
        let mut rows: Vec<wire::Inline> = account.send_and_parse(&call, &format!("the threads of {number}")).await?;
        rows.sort_by_key(|row| row.id);
        Ok(rows)
    }

    /// Reads the comments of an issue or a pull. The server returns all of them on one page; where that is too long, they
    /// are read from the timeline, which has several.
    async fn read_comments(&self, account: &GiteaAccount, number: u64) -> Result<Vec<wire::Comment>, ForgeError> {
        let call = RouteRequest::new(&routes::COMMENTS, self.route_params([&number]));
        let what = format!("the comments of #{number}");
        match account.send_and_parse(&call, &what).await {
            Err(ForgeError::TooLarge(_)) => {}
            rows => return rows,
        }
        // Nobody knows how many inline comments a pull hides here, so only empty pages are the end.
        let events = self.read_timeline(account, PullNumber(number), None, 0, |_| false).await?;
        if events.complete != Completeness::Complete {
            return Err(ForgeError::TooLarge(what));
        }
        let rows = events.items.into_iter().filter(|event| event.kind == "comment");
        Ok(rows.map(wire::Event::into_comment).collect())
    }

    /// Reads the timeline, or the part of it written or edited since a time. `hidden` is the number of inline comments in
    /// that part, which the server omits; `whole` tells whether all expected rows are present.
    async fn read_timeline(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
        since: Option<Time>,
        hidden: usize,
        whole: impl Fn(&[wire::Event]) -> bool,
    ) -> Result<Listing<wire::Event>, ForgeError> {
        let mut call = RouteRequest::new(&routes::TIMELINE, self.route_params([&number.0]));
        if let Some(since) = since {
            call = call.with_query("since", wire::format_time(since));
        }
        account.read_timeline(&call, &format!("the timeline of {number}"), hidden, whole).await
    }
}

impl Flavour {
    fn kind(self) -> ForgeKind {
        match self {
            Self::Gitea => ForgeKind::Gitea,
            Self::Forgejo => ForgeKind::Forgejo,
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gitea => "gitea",
            Self::Forgejo => "forgejo",
        })
    }
}

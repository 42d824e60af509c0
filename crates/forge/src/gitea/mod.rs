//! Gitea and Forgejo: one adapter with a flavour. What a server can do is probed, never guessed from its name.
//!
//! `GiteaForge` reads through the first identity and writes through the one that a step names.

mod account;
mod branches;
mod capabilities;
mod claim;
mod fetch;
mod inspect;
mod open;
mod pages;
mod perform;
mod probe;
mod routes;
#[cfg(test)]
mod scripted_server;
mod webhook;
mod wire;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use account::GiteaAccount;
use pages::Listing;
use referee_core::model::{Capabilities, Login, PullNumber, Time, Viewer};
use referee_http::{ClientOptions, RouteRequest, Token};
use serde::{Deserialize, Serialize};

pub use self::branches::OpenPullSummary;
pub use self::capabilities::{CapabilityRow, VersionRange, VersionSupport, capability_rows, known_versions};
pub use self::inspect::{HealthStatus, Inspection, InspectionItem, inspect};
pub use self::probe::{ProbedServer, probe_server};
pub use self::webhook::{Ring, RingSubject, WebhookError, parse_webhook};
use crate::{ForgeError, Shelf};

/// Which of the two programs a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// Gitea.
    Gitea,
    /// Forgejo.
    Forgejo,
}

/// A repository on a Gitea or Forgejo server.
#[derive(Clone, Debug)]
pub struct GiteaForge {
    owner: String,
    repo: String,
    server: GiteaServerInfo,
    /// The first one reads.
    accounts: Vec<GiteaAccount>,
    /// The server's own name, for what is kept.
    host: String,
    shelf: Option<Arc<dyn Shelf>>,
    /// As a pull told it in passing.
    default_branch: OnceLock<String>,
}

/// Where a repository is.
#[derive(Clone, Debug)]
pub struct RepoAddress {
    /// How its server is reached; `base` is where its pages begin, and token and routes are the adapter's to fill in.
    pub client_options: ClientOptions,
    /// Whose it is.
    pub owner: String,
    /// What it is called.
    pub repo: String,
}

/// What is known of a server: probed once and kept by the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiteaServerInfo {
    /// Which program.
    pub flavour: Flavour,
    /// Its version, as it says.
    pub version: String,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl GiteaForge {
    /// A repository as these identities see it, the first of them reading. Who a token belongs to is asked where it is
    /// not said; with `known`, nothing is asked at all.
    pub async fn open(
        at: &RepoAddress,
        identities: Vec<(Option<Login>, Token)>,
        known: Option<ProbedServer>,
    ) -> Result<Self, ForgeError> {
        let known = known.filter(|known| known.logins.len() == identities.len());
        let mut clients = Vec::with_capacity(identities.len());
        for (login, token) in identities {
            clients.push((login, probe::build_client(&at.client_options, Some(token))?));
        }
        let Some((_, first)) = clients.first() else { return Err(ForgeError::Unauthenticated) };
        let server = match &known {
            Some(known) => known.server.clone(),
            None => probe::probe_with_client(first, &at.client_options).await?,
        };
        let mut hands = Vec::with_capacity(clients.len());
        for (index, (login, client)) in clients.into_iter().enumerate() {
            let kept = known.as_ref().and_then(|known| known.logins.get(index).cloned());
            let login = match login.or(kept) {
                Some(login) => login,
                None => probe::fetch_login(&client).await?,
            };
            hands.push(GiteaAccount { login, client });
        }
        let base = &at.client_options.base_url;
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}{}", base.host_str().unwrap_or_default(), base.path().trim_end_matches('/'));
        Ok(Self {
            owner: at.owner.clone(),
            repo: at.repo.clone(),
            server,
            accounts: hands,
            host,
            shelf: None,
            default_branch: OnceLock::new(),
        })
    }

    /// The same, leaving what it read on that shelf: reading a pull again takes fewer requests.
    #[must_use]
    pub fn with_shelf(self, shelf: Arc<dyn Shelf>) -> Self {
        Self { shelf: Some(shelf), ..self }
    }

    /// What was found out when this was opened.
    pub fn probed_server(&self) -> ProbedServer {
        ProbedServer {
            server: self.server.clone(),
            logins: self.accounts.iter().map(|hand| hand.login.clone()).collect(),
        }
    }

    /// The server.
    pub fn server(&self) -> &GiteaServerInfo {
        &self.server
    }

    /// How many requests left so far, by all identities.
    pub fn count_requests(&self) -> referee_http::RequestCounts {
        self.accounts.iter().map(|hand| hand.client.request_counts()).fold(
            referee_http::RequestCounts::default(),
            |sum, calls| referee_http::RequestCounts {
                reads: sum.reads + calls.reads,
                writes: sum.writes + calls.writes,
            },
        )
    }

    /// The identity that reads.
    fn reader_account(&self) -> Result<&GiteaAccount, ForgeError> {
        self.accounts.first().ok_or(ForgeError::Unauthenticated)
    }

    /// The identity of that name.
    fn find_account(&self, login: &Login) -> Result<&GiteaAccount, ForgeError> {
        let named = |hand: &&GiteaAccount| hand.login == *login;
        self.accounts.iter().find(named).ok_or(ForgeError::Unauthenticated)
    }

    fn viewer(&self) -> Viewer {
        let holds: BTreeSet<Login> = self.accounts.iter().map(|hand| hand.login.clone()).collect();
        let login = self.accounts.first().map_or_else(|| Login(String::new()), |hand| hand.login.clone());
        Viewer { login, holds }
    }

    /// The places that every route of the repository begins with, and those that follow.
    fn route_params<const N: usize>(&self, more: [&dyn ToString; N]) -> Vec<String> {
        let more = more.into_iter().map(ToString::to_string);
        [self.owner.clone(), self.repo.clone()].into_iter().chain(more).collect()
    }

    /// The rows of the list of reviews as `hand` sees them: its own draft is among them, nobody else's.
    async fn read_reviews(&self, hand: &GiteaAccount, number: PullNumber) -> Result<Listing<wire::Review>, ForgeError> {
        let call = RouteRequest::new(&routes::REVIEWS, self.route_params([&number.0]));
        hand.read_pages(&call, &format!("the reviews of {number}"), |rows: Vec<wire::Review>| rows).await
    }

    /// The inline comments of a review, oldest first. The server gives all of them at once, in any order.
    async fn read_review_comments(
        &self,
        hand: &GiteaAccount,
        number: PullNumber,
        review: u64,
    ) -> Result<Vec<wire::Inline>, ForgeError> {
        let call = RouteRequest::new(&routes::REVIEW_COMMENTS, self.route_params([&number.0, &review]));
        let mut rows: Vec<wire::Inline> = hand.send_and_parse(&call, &format!("the threads of {number}")).await?;
        rows.sort_by_key(|row| row.id);
        Ok(rows)
    }

    /// The timeline, or what was written or edited in it since a moment. `hidden` is how many inline comments fall into
    /// that time, `whole` whether all is there that must be.
    async fn read_timeline(
        &self,
        hand: &GiteaAccount,
        number: PullNumber,
        since: Option<Time>,
        hidden: usize,
        whole: impl Fn(&[wire::Event]) -> bool,
    ) -> Result<Listing<wire::Event>, ForgeError> {
        let mut call = RouteRequest::new(&routes::TIMELINE, self.route_params([&number.0]));
        if let Some(since) = since {
            call = call.with_query("since", wire::format_time(since));
        }
        hand.read_timeline(&call, &format!("the timeline of {number}"), hidden, whole).await
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

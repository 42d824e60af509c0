//! Gitea and Forgejo: one adapter with a flavour. What a server can do is probed, never guessed from its name.
//!
//! `GiteaForge` reads through the first identity and writes through the one that a step names.

mod branches;
mod claim;
mod fetch;
mod hand;
mod hook;
mod inspect;
mod open;
mod pages;
mod perform;
mod probe;
mod routes;
#[cfg(test)]
mod script;
mod table;
mod wire;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use hand::Hand;
use pages::Listing;
use referee_core::model::{Capabilities, Login, PullNumber, Time, Viewer};
use referee_http::{Call, Reach, Token};
use serde::{Deserialize, Serialize};

pub use self::branches::Listed;
pub use self::hook::{HookError, Ring, RingAbout, read_hook};
pub use self::inspect::{Fact, Inspection, Soundness, inspect};
pub use self::probe::{Known, probe};
pub use self::table::{CapabilityRow, Versions, Way, capability_rows, known_versions};
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
    server: Server,
    /// The first one reads.
    hands: Vec<Hand>,
    /// The server's own name, for what is kept.
    host: String,
    shelf: Option<Arc<dyn Shelf>>,
    /// As a pull told it in passing.
    default_branch: OnceLock<String>,
}

/// Where a repository is.
#[derive(Clone, Debug)]
pub struct Address {
    /// How its server is reached; `base` is where its pages begin, and token and routes are the adapter's to fill in.
    pub reach: Reach,
    /// Whose it is.
    pub owner: String,
    /// What it is called.
    pub repo: String,
}

/// What is known of a server: probed once and kept by the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
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
        at: &Address,
        identities: Vec<(Option<Login>, Token)>,
        known: Option<Known>,
    ) -> Result<Self, ForgeError> {
        let known = known.filter(|known| known.logins.len() == identities.len());
        let mut clients = Vec::with_capacity(identities.len());
        for (login, token) in identities {
            clients.push((login, probe::client(&at.reach, Some(token))?));
        }
        let Some((_, first)) = clients.first() else { return Err(ForgeError::Unauthenticated) };
        let server = match &known {
            Some(known) => known.server.clone(),
            None => probe::examine(first, &at.reach).await?,
        };
        let mut hands = Vec::with_capacity(clients.len());
        for (index, (login, client)) in clients.into_iter().enumerate() {
            let kept = known.as_ref().and_then(|known| known.logins.get(index).cloned());
            let login = match login.or(kept) {
                Some(login) => login,
                None => probe::login_of(&client).await?,
            };
            hands.push(Hand { login, client });
        }
        let base = &at.reach.base;
        let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}{}", base.host_str().unwrap_or_default(), base.path().trim_end_matches('/'));
        Ok(Self {
            owner: at.owner.clone(),
            repo: at.repo.clone(),
            server,
            hands,
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
    pub fn known(&self) -> Known {
        Known { server: self.server.clone(), logins: self.hands.iter().map(|hand| hand.login.clone()).collect() }
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// How many requests left so far, by all identities.
    pub fn calls(&self) -> referee_http::Calls {
        self.hands.iter().map(|hand| hand.client.calls()).fold(referee_http::Calls::default(), |sum, calls| {
            referee_http::Calls { reads: sum.reads + calls.reads, writes: sum.writes + calls.writes }
        })
    }

    /// The identity that reads.
    fn reader(&self) -> Result<&Hand, ForgeError> {
        self.hands.first().ok_or(ForgeError::Unauthenticated)
    }

    /// The identity of that name.
    fn hand(&self, login: &Login) -> Result<&Hand, ForgeError> {
        let named = |hand: &&Hand| hand.login == *login;
        self.hands.iter().find(named).ok_or(ForgeError::Unauthenticated)
    }

    fn viewer(&self) -> Viewer {
        let holds: BTreeSet<Login> = self.hands.iter().map(|hand| hand.login.clone()).collect();
        let login = self.hands.first().map_or_else(|| Login(String::new()), |hand| hand.login.clone());
        Viewer { login, holds }
    }

    /// The places that every route of the repository begins with, and those that follow.
    fn places<const N: usize>(&self, more: [&dyn ToString; N]) -> Vec<String> {
        let more = more.into_iter().map(ToString::to_string);
        [self.owner.clone(), self.repo.clone()].into_iter().chain(more).collect()
    }

    /// The rows of the list of reviews as `hand` sees them: its own draft is among them, nobody else's.
    async fn reviews(&self, hand: &Hand, number: PullNumber) -> Result<Listing<wire::Review>, ForgeError> {
        let call = Call::new(&routes::REVIEWS, self.places([&number.0]));
        hand.pages(&call, &format!("the reviews of {number}"), |rows: Vec<wire::Review>| rows).await
    }

    /// The inline comments of a review, oldest first. The server gives all of them at once, in any order.
    async fn review_comments(
        &self,
        hand: &Hand,
        number: PullNumber,
        review: u64,
    ) -> Result<Vec<wire::Inline>, ForgeError> {
        let call = Call::new(&routes::REVIEW_COMMENTS, self.places([&number.0, &review]));
        let mut rows: Vec<wire::Inline> = hand.read(&call, &format!("the threads of {number}")).await?;
        rows.sort_by_key(|row| row.id);
        Ok(rows)
    }

    /// The timeline, or what was written or edited in it since a moment. `hidden` is how many inline comments fall into
    /// that time, `whole` whether all is there that must be.
    async fn timeline(
        &self,
        hand: &Hand,
        number: PullNumber,
        since: Option<Time>,
        hidden: usize,
        whole: impl Fn(&[wire::Event]) -> bool,
    ) -> Result<Listing<wire::Event>, ForgeError> {
        let mut call = Call::new(&routes::TIMELINE, self.places([&number.0]));
        if let Some(since) = since {
            call = call.with("since", wire::stamp(since));
        }
        hand.timeline(&call, &format!("the timeline of {number}"), hidden, whole).await
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

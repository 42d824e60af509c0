//! What a token can do on a repository, found out by reading alone (SAF-7).
//!
//! | fact | asked | told to |
//! |---|---|---|
//! | server, clock | `GET /version` | everybody |
//! | identity | `GET /user` | tokens with `read:user` |
//! | scopes | a route that needs another scope: Gitea's refusal lists those of the token | everybody |
//! | repository, rights | `GET /repos/{owner}/{repo}` | who may read it |
//! | rights, protection | `GET /branches/{default}` | who may read it |
//! | verdict | the own rows of the latest pulls | who may read them |
//! | protection in full, webhooks | `GET /branch_protections/{rule}`, `GET /hooks` | administrators of the repository |

mod facts;
mod scopes;

use jiff::Timestamp;
use referee_core::model::{Login, Time};
use referee_http::{Call, Route, Token};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::hand::{Hand, clock};
use super::probe::{self, login_of, probe};
use super::{Address, Server, routes, wire};
use crate::ForgeError;

/// What was found out, one entry for each thing that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// In the order in which people want to read them.
    pub facts: Vec<Fact>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// How it stands.
    pub state: Soundness,
    /// What was looked at, in one word.
    pub what: &'static str,
    /// What was found.
    pub words: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Soundness {
    /// As it should be.
    Fine,
    /// It works, and could be better.
    Warning,
    /// A review cannot work so.
    Bad,
    /// Nobody may ask, or the server does not say.
    NotKnown,
}

/// Looks at everything that a review on that repository needs. Writes nothing, and tries nothing out.
///
/// Whatever cannot be found out is a fact too: this does not fail.
pub async fn inspect(at: &Address, token: Token) -> Inspection {
    let mut facts = Vec::new();
    if let Err(error) = look(at, token, &mut facts).await {
        facts.push(facts::stopped(&error));
    }
    Inspection { facts }
}

/// Goes on as long as there is something to look at.
async fn look(at: &Address, token: Token, facts: &mut Vec<Fact>) -> Result<(), ForgeError> {
    let mut reach = at.reach.clone();
    reach.token = Some(token.clone());
    let server = probe(&reach).await?;
    facts.extend([facts::server(&server), facts::abilities(&server)]);

    let client = probe::client(&at.reach, Some(token))?;
    let mut eye = Eye { hand: Hand { login: Login(String::new()), client }, at };
    facts.push(eye.skew().await?);
    let login = login_of(&eye.hand.client).await;
    facts.push(facts::identity(&login));
    if matches!(login, Err(ForgeError::Unauthenticated)) {
        return Ok(());
    }
    facts.push(eye.scopes().await);

    let repository = eye.read::<Repository>(&routes::REPO, &[]).await;
    facts.push(facts::repository(&repository, &format!("{}/{}", at.owner, at.repo)));
    let Ok(repository) = repository else { return Ok(()) };
    let branch = eye.read::<Branch>(&routes::BRANCH, &[&repository.default_branch]).await;
    facts.push(facts::rights(&repository, branch.as_ref().ok()));
    let rule = match &branch {
        Ok(branch) if repository.permissions.admin && !branch.effective_branch_protection_name.is_empty() => {
            eye.read::<Rule>(&routes::PROTECTION, &[&branch.effective_branch_protection_name]).await.ok()
        }
        _ => None,
    };
    facts.extend(facts::protection(&repository.default_branch, &branch, rule.as_ref()));
    if let Ok(login) = login {
        eye.hand.login = login;
        facts.push(facts::verdict(&eye.own_verdict().await));
    }
    facts.push(facts::statuses(&repository));
    let hooks = eye.read::<Vec<Hook>>(&routes::HOOKS, &[]).await;
    facts.push(facts::hooks(hooks.map(|hooks| hooks.iter().filter(|hook| hook.active).count())));
    Ok(())
}

/// Who looks, and where.
struct Eye<'a> {
    hand: Hand,
    at: &'a Address,
}

/// Pulls that are searched for an own verdict.
const PULLS: usize = 5;

impl Eye<'_> {
    fn call<'r>(&self, route: &'r Route, more: &[&str]) -> Call<'r> {
        Call::new(route, [self.at.owner.as_str(), self.at.repo.as_str()].iter().chain(more))
    }

    async fn read<T: DeserializeOwned>(&self, route: &Route, more: &[&str]) -> Result<T, ForgeError> {
        self.hand.read(&self.call(route, more), "that").await
    }

    /// How far the clocks are apart.
    async fn skew(&self) -> Result<Fact, ForgeError> {
        let answer = self.hand.ask(&Call::new::<&str>(&routes::VERSION, []), "its version").await?;
        Ok(facts::clocks(answer.header("date").map(|_| clock(&answer)), Time(Timestamp::now().as_second())))
    }

    async fn scopes(&self) -> Fact {
        let elsewhere = Call::new::<&str>(&routes::NOTIFICATIONS, []).with("page", 1).with("limit", 1);
        let refused = match self.hand.client.send(&elsewhere).await {
            Ok(answer) if answer.is_success() => None,
            Ok(answer) => Some(answer.message()),
            Err(_) => Some(String::new()),
        };
        if let Some(fact) = refused.as_deref().and_then(scopes::told) {
            return fact;
        }
        let issues = self.call(&routes::ISSUES, &[]).with("page", 1).with("limit", 1);
        let issues = self.hand.ask(&issues, "issues").await.map(drop);
        scopes::seen(&issues, refused.is_none())
    }

    /// The own latest verdict, on the latest of the pulls that have one.
    async fn own_verdict(&self) -> Result<Option<OwnVerdict>, ForgeError> {
        let pulls = self.call(&routes::PULLS, &[]).with("state", "all").with("sort", "recentupdate");
        let pulls: Vec<wire::Pull> = self.hand.read(&pulls.with("page", 1).with("limit", PULLS), "the pulls").await?;
        for pull in &pulls {
            let call = self.call(&routes::REVIEWS, &[&pull.number.to_string()]);
            let rows = self.hand.pages(&call, "the reviews", |rows: Vec<wire::Review>| rows).await?.items;
            if let Some(found) = OwnVerdict::among(&rows, pull.number, &self.hand.login) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// An own verdict, and whether the server counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnVerdict {
    pull: u64,
    counts: bool,
    /// Somebody asked for another review meanwhile, which takes the weight of the one before.
    asked_again: bool,
}

impl OwnVerdict {
    fn among(rows: &[wire::Review], pull: u64, own: &Login) -> Option<Self> {
        let mine = |row: &&wire::Review| wire::login(row.user.as_ref()).as_ref() == Some(own);
        let asked_again = rows.iter().filter(mine).any(|row| row.state == "REQUEST_REVIEW");
        let verdict = |row: &&wire::Review| matches!(row.state.as_str(), "APPROVED" | "REQUEST_CHANGES");
        let latest = rows.iter().filter(mine).filter(verdict).max_by_key(|row| row.id)?;
        Some(Self { pull, counts: latest.official && !latest.dismissed, asked_again })
    }
}

/// `GET /repos/{owner}/{repo}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Repository {
    default_branch: String,
    archived: bool,
    permissions: Rights,
}

/// What the user may do, whatever the token may.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Rights {
    admin: bool,
    push: bool,
}

/// `GET /branches/{branch}`. The name of the rule is told to administrators.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Branch {
    protected: bool,
    required_approvals: u64,
    enable_status_check: bool,
    status_check_contexts: Vec<String>,
    user_can_push: bool,
    user_can_merge: bool,
    effective_branch_protection_name: String,
}

/// `GET /branch_protections/{rule}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rule {
    block_on_rejected_reviews: bool,
    block_on_official_review_requests: bool,
}

/// A row of `GET /hooks`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Hook {
    active: bool,
}

impl Server {
    /// Its name and version, as people say it.
    fn name(&self) -> String {
        let program = match self.flavour {
            super::Flavour::Gitea => "Gitea",
            super::Flavour::Forgejo => "Forgejo",
        };
        format!("{program} {}", self.version)
    }
}

//! Inspecting what a token can do on a repository, with read requests only (SAF-7).
//!
//! | fact | request | visible to |
//! |---|---|---|
//! | server, clock | `GET /version` | everybody |
//! | identity | `GET /user` | tokens with `read:user` |
//! | scopes | a route that needs another scope: Gitea's 403 lists those of the token | everybody |
//! | repository, rights | `GET /repos/{owner}/{repo}` | readers of the repository |
//! | rights, protection | `GET /branches/{default}` | readers of the repository |
//! | verdict | the identity's reviews on the latest pulls | readers of the repository |
//! | protection in full, webhooks | `GET /branch_protections/{rule}`, `GET /hooks` | administrators of the repository |

mod checks;
mod scopes;

use jiff::Timestamp;
use referee_core::model::{Login, Time};
use referee_http::{Route, RouteRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::account::{GiteaAccount, server_time};
use super::probe::{build_client, fetch_login, probe_with_client};
use super::{GiteaServerInfo, routes, wire};
use crate::{ForgeError, HealthStatus, Inspection, InspectionItem, ServerSite};

/// Inspects a repository. Whatever cannot be learned becomes an item too, so this does not fail.
pub(super) async fn inspect_server(site: &ServerSite) -> Inspection {
    let mut items = Vec::new();
    if let Err(error) = run_checks(site, &mut items).await {
        items.push(checks::describe_abort(&error));
    }
    Inspection { items }
}

/// Runs the checks until one makes the following ones pointless.
async fn run_checks(site: &ServerSite, items: &mut Vec<InspectionItem>) -> Result<(), ForgeError> {
    let client = build_client(&site.client, Some(site.token.clone()))?;
    let server = probe_with_client(&client, &site.client).await?;
    items.extend([checks::check_server(&server), checks::describe_capabilities(&server)]);

    let mut inspector = Inspector { account: GiteaAccount { login: Login(String::new()), client }, address: site };
    items.push(inspector.check_clock_skew().await?);
    let login = fetch_login(&inspector.account.client).await;
    items.push(checks::check_identity(&login));
    if matches!(login, Err(ForgeError::Unauthenticated)) {
        return Ok(());
    }
    items.push(inspector.check_scopes().await);

    let repository = inspector.read_route::<RepositorySettings>(&routes::REPO, &[]).await;
    items.push(checks::check_repository(&repository, &format!("{}/{}", site.owner, site.repo)));
    let Ok(repository) = repository else { return Ok(()) };
    let branch = inspector.read_route::<BranchSettings>(&routes::BRANCH, &[&repository.default_branch]).await;
    items.push(checks::check_rights(&repository, branch.as_ref().ok()));
    let rule = match &branch {
        Ok(branch) if repository.permissions.admin && !branch.effective_branch_protection_name.is_empty() => inspector
            .read_route::<ProtectionRule>(&routes::PROTECTION, &[&branch.effective_branch_protection_name])
            .await
            .ok(),
        _ => None,
    };
    items.extend(checks::check_protection(&repository.default_branch, &branch, rule.as_ref()));
    if let Ok(login) = login {
        inspector.account.login = login;
        items.push(checks::check_own_verdict(&inspector.find_own_verdict().await));
    }
    items.push(checks::check_status_rights(&repository));
    let hooks = inspector.read_route::<Vec<WebhookRow>>(&routes::HOOKS, &[]).await;
    items.push(checks::check_webhooks(hooks.map(|hooks| hooks.iter().filter(|hook| hook.active).count())));
    Ok(())
}

/// The identity that inspects a repository.
struct Inspector<'a> {
    account: GiteaAccount,
    address: &'a ServerSite,
}

/// How many pulls are searched for a verdict of this identity.
const MAX_PULLS_SEARCHED: usize = 5;

impl Inspector<'_> {
    fn repo_request<'r>(&self, route: &'r Route, more: &[&str]) -> RouteRequest<'r> {
        RouteRequest::new(route, [self.address.owner.as_str(), self.address.repo.as_str()].iter().chain(more))
    }

    async fn read_route<T: DeserializeOwned>(&self, route: &Route, more: &[&str]) -> Result<T, ForgeError> {
        self.account.send_and_parse(&self.repo_request(route, more), "that").await
    }

    async fn check_clock_skew(&self) -> Result<InspectionItem, ForgeError> {
        let answer = self.account.send(&RouteRequest::new::<&str>(&routes::VERSION, []), "its version").await?;
        Ok(checks::check_clocks(
            answer.header("date").map(|_| server_time(&answer)),
            Time(Timestamp::now().as_second()),
        ))
    }

    async fn check_scopes(&self) -> InspectionItem {
        let other_scope =
            RouteRequest::new::<&str>(&routes::NOTIFICATIONS, []).with_query("page", 1).with_query("limit", 1);
        let refused = match self.account.client.send(&other_scope).await {
            Ok(answer) if answer.is_success() => None,
            Ok(answer) => Some(answer.message()),
            Err(_) => Some(String::new()),
        };
        if let Some(item) = refused.as_deref().and_then(scopes::item_from_refusal) {
            return item;
        }
        let issues = self.repo_request(&routes::ISSUES, &[]).with_query("page", 1).with_query("limit", 1);
        let issues = self.account.send(&issues, "issues").await.map(drop);
        scopes::item_from_reads(&issues, refused.is_none())
    }

    /// Finds the latest verdict of this identity, on the most recently updated pull that has one.
    async fn find_own_verdict(&self) -> Result<Option<OwnVerdict>, ForgeError> {
        let pulls =
            self.repo_request(&routes::PULLS, &[]).with_query("state", "all").with_query("sort", "recentupdate");
        let pulls: Vec<wire::Pull> = self
            .account
            .send_and_parse(&pulls.with_query("page", 1).with_query("limit", MAX_PULLS_SEARCHED), "the pulls")
            .await?;
        for pull in &pulls {
            let call = self.repo_request(&routes::REVIEWS, &[&pull.number.to_string()]);
            let rows = self.account.read_pages(&call, "the reviews", |rows: Vec<wire::Review>| rows).await?.items;
            if let Some(verdict) = OwnVerdict::find_latest(&rows, pull.number, &self.account.login) {
                return Ok(Some(verdict));
            }
        }
        Ok(None)
    }
}

/// A verdict of this identity, and whether the server counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnVerdict {
    pull: u64,
    counts: bool,
    /// Another review was requested since, which makes the server ignore the earlier one.
    asked_again: bool,
}

impl OwnVerdict {
    fn find_latest(rows: &[wire::Review], pull: u64, own: &Login) -> Option<Self> {
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
struct RepositorySettings {
    default_branch: String,
    archived: bool,
    permissions: RepositoryRights,
}

/// The rights of the user; the token may have fewer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct RepositoryRights {
    admin: bool,
    push: bool,
}

/// `GET /branches/{branch}`. Only administrators see the name of the rule.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BranchSettings {
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
struct ProtectionRule {
    block_on_rejected_reviews: bool,
    block_on_official_review_requests: bool,
}

/// A row of `GET /hooks`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WebhookRow {
    active: bool,
}

impl GiteaServerInfo {
    /// Returns the name and version for people: `Gitea 1.27.3`.
    fn name(&self) -> String {
        let program = match self.flavour {
            super::Flavour::Gitea => "Gitea",
            super::Flavour::Forgejo => "Forgejo",
        };
        format!("{program} {}", self.version)
    }
}

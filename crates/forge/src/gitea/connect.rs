//! Opening a repository on a server.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use referee_core::model::Login;
use referee_http::{ClientOptions, RequestCounts};

use super::account::GiteaAccount;
use super::capabilities::capability_table;
use super::claim::TakenClaims;
use super::probe::{build_client, fetch_login, probe_with_client};
use super::{Flavour, GiteaForge, GiteaServerInfo, inspect};
use crate::connect::Driver;
use crate::{CapabilityTable, Forge, ForgeError, ForgeKind, Identity, Inspection, ServerFacts, ServerSite};

/// The adapter for Gitea and Forgejo.
pub(crate) struct GiteaDriver;

#[async_trait]
impl Driver for GiteaDriver {
    async fn connect(&self, site: &ServerSite) -> Result<Arc<dyn Forge>, ForgeError> {
        Ok(Arc::new(GiteaForge::open(site).await?))
    }

    async fn identify(&self, reach: &ClientOptions) -> Result<ForgeKind, ForgeError> {
        let server = probe_with_client(&build_client(reach, None)?, reach).await?;
        Ok(server.flavour.kind())
    }

    async fn inspect(&self, site: &ServerSite) -> Inspection {
        inspect::inspect_server(site).await
    }

    fn capability_table(&self, kind: ForgeKind) -> Option<CapabilityTable> {
        Some(capability_table(Flavour::from_kind(kind)?))
    }
}

impl GiteaForge {
    /// Opens a repository; sends nothing where `site.known` holds what is needed.
    pub(super) async fn open(site: &ServerSite) -> Result<Self, ForgeError> {
        let client = build_client(&site.client, Some(site.token.clone()))?;
        let known =
            site.known.as_ref().and_then(|facts| Some((GiteaServerInfo::from_facts(facts)?, facts.login.clone())));
        let (server, login) = match known {
            Some(known) => known,
            None => (probe_with_client(&client, &site.client).await?, fetch_login(&client).await?),
        };
        Ok(Self {
            client_options: site.client.clone(),
            owner: site.owner.clone(),
            repo: site.repo.clone(),
            server,
            accounts: vec![GiteaAccount { login, client }],
            earlier_requests: RequestCounts::default(),
            default_branch: OnceLock::new(),
            taken_claims: TakenClaims::default(),
        })
    }

    pub(super) async fn add_identities(&self, identities: Vec<Identity>) -> Result<(Self, Vec<Login>), ForgeError> {
        let mut forge = self.clone();
        let mut logins = Vec::with_capacity(identities.len());
        for Identity { login, token } in identities {
            let token = token.ok_or(ForgeError::Unauthenticated)?;
            let same_token = forge.accounts.iter().find(|account| account.client.uses_token(&token));
            let login = login.or_else(|| Some(same_token?.login.clone()));
            let client = build_client(&self.client_options, Some(token))?;
            let login = match login {
                Some(login) => login,
                None => fetch_login(&client).await?,
            };
            if forge.find_account(&login).is_ok() {
                forge.earlier_requests = forge.earlier_requests + client.request_counts();
            } else {
                forge.accounts.push(GiteaAccount { login: login.clone(), client });
            }
            logins.push(login);
        }
        Ok((forge, logins))
    }

    pub(super) fn facts(&self) -> ServerFacts {
        ServerFacts {
            kind: self.server.flavour.kind(),
            version: self.server.version.clone(),
            login: self.viewer().login,
            details: serde_json::to_value(&self.server.capabilities).unwrap_or_default(),
        }
    }
}

impl GiteaServerInfo {
    /// Restores what an earlier connection learned; `None` where another version of referee stored it.
    fn from_facts(facts: &ServerFacts) -> Option<Self> {
        Some(Self {
            flavour: Flavour::from_kind(facts.kind)?,
            version: facts.version.clone(),
            capabilities: serde_json::from_value(facts.details.clone()).ok()?,
        })
    }
}

impl Flavour {
    fn from_kind(kind: ForgeKind) -> Option<Self> {
        match kind {
            ForgeKind::Gitea => Some(Self::Gitea),
            ForgeKind::Forgejo => Some(Self::Forgejo),
            ForgeKind::Github | ForgeKind::Gitlab | ForgeKind::Local => None,
        }
    }
}

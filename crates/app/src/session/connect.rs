//! Connecting to a forge: the server's facts, the cache in front of it, the roles' identities, and the git cache.

use std::sync::Arc;

use referee_core::hash::Hash;
use referee_core::model::{PullNumber, Time};
use referee_forge::{CachedForge, Forge, ForgeError, Identity, ListedPull, MementoStore, ServerFacts, connect};
use referee_git::Credentials;
use referee_http::Token;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Options;
use super::config_files::env;
use super::local::now;
use super::memento_files::MementoFiles;
use super::reference::PullReference;
use super::remote_commits::RemoteCommits;
use super::site::{RemoteSite, find_site, may_use_identities};
use crate::config::ResolvedConfig;
use crate::failure::Failure;
use crate::store::{MemoryKind, Store, StoreAccess};
use crate::user_dirs;

/// Connects to a server and opens the store of pulls on forges.
pub(crate) async fn connect_server(site: &RemoteSite, access: StoreAccess) -> Result<(Arc<dyn Forge>, Store), Failure> {
    let store = Store::open_for_forges(access, now);
    let key = server_facts_key(site);
    let stored = store.load_memory::<StoredFacts>(&key, MemoryKind::ServerInfo).ok().flatten();
    let stored = stored.filter(StoredFacts::is_current);
    let probed = stored.is_none();
    let server = site.to_server_site(stored.map(|stored| stored.facts))?;
    let connected = connect(&referee_forge::Site::Server(Box::new(server))).await;
    let forge = connected.map_err(|error| read_failure(error, site.server.as_str()))?;
    if let (true, Some(facts)) = (probed, forge.server_facts()) {
        // If this fails, the next run probes again.
        let _ = store.save_memory(&key, MemoryKind::ServerInfo, &StoredFacts { at: now(), facts });
    }
    let files = MementoFiles::open_for_user().map(|files| Arc::new(files) as Arc<dyn MementoStore>);
    Ok((Arc::new(CachedForge::new(forge, files)), store))
}

/// What a probe learned about a server, and when.
#[derive(Debug, Serialize, Deserialize)]
struct StoredFacts {
    at: Time,
    facts: ServerFacts,
}

impl StoredFacts {
    /// Facts expire after an hour: servers are updated, and tokens change owners.
    fn is_current(&self) -> bool {
        (0..3600).contains(&(now().0 - self.at.0))
    }
}

/// Distinguishes tokens without revealing them.
fn server_facts_key(site: &RemoteSite) -> String {
    let Hash(hash) = Hash::digest_parts([site.server.as_str(), site.token.reveal()]);
    format!("{} {}", site.server, &hash[..16])
}

/// Returns the store's key for a pull: its URL, which every command accepts as a reference.
pub(crate) fn pull_key(site: &RemoteSite, number: PullNumber) -> String {
    format!("{}/pulls/{}", repository_url(site), number.0)
}

fn repository_url(site: &RemoteSite) -> String {
    format!("{}/{}", site.server.as_str().trim_end_matches('/'), site.repo)
}

/// Opens the cache of a repository's commits.
pub(crate) fn open_remote_commits(site: &RemoteSite, forge: &dyn Forge) -> Result<RemoteCommits, Failure> {
    let url = format!("{}.git", repository_url(site));
    let credentials = Credentials {
        ca_file: site.ca.clone(),
        proxy: site.proxy.as_ref().map(Url::to_string),
        ..Credentials::new(forge.info().login.as_str(), site.token.reveal())
    };
    let name = format!("{}-{}.git", site.repo.name, &Hash::digest(&url).0[..16]);
    let folder = user_dirs::cache_dir().map(|folder| folder.join("git").join(name));
    RemoteCommits::open(folder.as_deref(), url, credentials)
}

/// Connects the identities of the roles whose tokens are here, and the author identity of workers if it has its own token.
/// Fills in the logins of the roles. The config of a repository chooses the identity of a role, so the server must be one
/// that their tokens belong to (D45).
pub(crate) async fn connect_identities(
    forge: &Arc<dyn Forge>,
    server: &Url,
    config: &mut ResolvedConfig,
    author: Option<Token>,
) -> Result<Arc<dyn Forge>, Failure> {
    let is_bound = may_use_identities(server, &config.forges);
    let (mut roles, mut identities): (Vec<usize>, Vec<Identity>) = (Vec::new(), Vec::new());
    for (index, role) in config.roles.iter().enumerate() {
        let Some(name) = &role.identity else { continue };
        let Some(identity) = config.identities.get(name) else { continue };
        match identity.token.as_ref().filter(|_| is_bound).map(|secret| secret.read(&env)) {
            Some(Ok(text)) => {
                roles.push(index);
                let token = Some(Token::new(text.expose()));
                identities.push(Identity { login: identity.login.clone(), token });
            }
            // Another CI job holds this identity's token.
            _ if identity.login.is_some() => {}
            Some(Err(error)) => {
                return Err(Failure::usage(format!("role `{}` has no identity: {error}", role.name))
                    .with_hint(format!("give `[identity.{name}]` its `login` where this job lacks the token")));
            }
            None if identity.token.is_some() => {
                let why = format!("its token is not sent to `{server}`, which the operator file does not name");
                return Err(Failure::usage(format!("role `{}` has no identity: {why}", role.name))
                    .with_hint(format!("add `[forge.NAME]` with `url = \"{server}\"` to the operator file")));
            }
            None => {
                return Err(Failure::usage(format!("role `{}` has no identity", role.name))
                    .with_hint(format!("give `[identity.{name}]` a `token` or a `login`")));
            }
        }
    }
    identities.extend(author.map(|token| Identity { login: None, token: Some(token) }));
    let connected = forge.with_identities(identities).await;
    let (forge, logins) = connected.map_err(|error| read_failure(error, "the identities of the roles"))?;
    for (index, login) in roles.into_iter().zip(logins) {
        if let Some(role) = config.policy.roles.get_mut(index) {
            role.identity = Some(login);
        }
    }
    Ok(forge)
}

/// Lets referee write under the names of all roles on a local forge, which has no tokens.
pub(super) async fn connect_local_identities(
    forge: &Arc<dyn Forge>,
    config: &ResolvedConfig,
) -> Result<Arc<dyn Forge>, Failure> {
    let logins = config.policy.roles.iter().filter_map(|role| role.identity.clone());
    let identities = logins.map(|login| Identity { login: Some(login), token: None }).collect();
    let connected = forge.with_identities(identities).await;
    Ok(connected.map_err(|error| read_failure(error, "the local forge"))?.0)
}

/// The open pulls of the forge of this checkout.
#[derive(Debug)]
pub(crate) struct ForgePulls {
    site: RemoteSite,
    /// Newest first.
    pub(crate) pulls: Vec<ListedPull>,
}

impl ForgePulls {
    /// Lists them; `None` if this checkout has no forge, or no token for it.
    pub(crate) async fn list(options: &Options) -> Result<Option<Self>, Failure> {
        let Some(site) = find_site(options, &PullReference::Current).await? else { return Ok(None) };
        let (forge, _) = connect_server(&site, StoreAccess::Read).await?;
        let pulls = forge.list_open_pulls().await.map_err(|error| read_failure(error, &site.repo.to_string()))?;
        Ok(Some(Self { site, pulls }))
    }

    /// Returns the name of a pull for people.
    pub(crate) fn pull_name(&self, number: PullNumber) -> String {
        format!("{}{number}", self.site.repo)
    }

    /// Returns the store's key for a pull.
    pub(crate) fn pull_key(&self, number: PullNumber) -> String {
        pull_key(&self.site, number)
    }

    /// Returns whether a key of the store belongs to this repository.
    pub(crate) fn owns_key(&self, key: &str) -> bool {
        key.starts_with(&format!("{}/pulls/", repository_url(&self.site)))
    }
}

pub(crate) fn read_failure(error: ForgeError, what: &str) -> Failure {
    Failure::from_forge_error(&error, &format!("nothing was read from `{what}`: {error}"))
}

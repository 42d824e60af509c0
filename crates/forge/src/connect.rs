//! Opening a forge: the only place that knows which adapters exist.

use std::sync::Arc;

use async_trait::async_trait;
use referee_core::model::Login;
use referee_http::{ClientOptions, Token};

use crate::gitea::GiteaDriver;
use crate::local::LocalForge;
use crate::{CapabilityTable, Forge, ForgeError, ForgeKind, Inspection, ServerFacts};

/// A repository to connect to.
#[derive(Clone, Debug)]
pub enum Site {
    /// Pulls in the git directory.
    Local(Box<LocalForge>),
    /// A repository on a server.
    Server(Box<ServerSite>),
}

/// A repository on a server, and the token that reads it.
#[derive(Clone, Debug)]
pub struct ServerSite {
    /// The server's software; `None` where the server has to be asked.
    pub kind: Option<ForgeKind>,
    /// How the server is reached. `base_url` is where its web pages begin; the adapter fills in token and routes.
    pub client: ClientOptions,
    pub owner: String,
    pub repo: String,
    pub token: Token,
    /// What an earlier connection learned; with it, opening sends no request.
    pub known: Option<ServerFacts>,
}

/// An identity to write as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `None` where the server has to be asked.
    pub login: Option<Login>,
    /// `None` on a local forge, which has no tokens.
    pub token: Option<Token>,
}

/// Opens a forge. A server that runs no known software is `ForgeError::Unsupported`.
pub async fn connect(site: &Site) -> Result<Arc<dyn Forge>, ForgeError> {
    match site {
        Site::Local(forge) => Ok(Arc::new(LocalForge::clone(forge))),
        Site::Server(site) => driver_for(site.kind)?.connect(site).await,
    }
}

/// Asks a server without a token which software it runs; `ForgeError::Unsupported` if it is none that an adapter knows.
/// `reach.base_url` is where its web pages begin.
pub async fn identify_server(reach: &ClientOptions) -> Result<ForgeKind, ForgeError> {
    driver_for(None)?.identify(reach).await
}

/// Inspects everything that a review on that repository needs. Only reads; nothing is tried out (SAF-7). Whatever cannot
/// be learned is an item of the result; the only error is a software without an adapter.
pub async fn inspect(site: &ServerSite) -> Result<Inspection, ForgeError> {
    Ok(driver_for(site.kind)?.inspect(site).await)
}

/// Returns what each version of that software can do; `None` where no adapter knows it.
pub fn capability_table(kind: ForgeKind) -> Option<CapabilityTable> {
    driver_for(Some(kind)).ok()?.capability_table(kind)
}

/// What every adapter for a server provides.
#[async_trait]
pub(crate) trait Driver: Sync {
    async fn connect(&self, site: &ServerSite) -> Result<Arc<dyn Forge>, ForgeError>;

    /// Asks without a token.
    async fn identify(&self, reach: &ClientOptions) -> Result<ForgeKind, ForgeError>;

    async fn inspect(&self, site: &ServerSite) -> Inspection;

    fn capability_table(&self, kind: ForgeKind) -> Option<CapabilityTable>;
}

fn driver_for(kind: Option<ForgeKind>) -> Result<&'static dyn Driver, ForgeError> {
    match kind {
        None | Some(ForgeKind::Gitea | ForgeKind::Forgejo) => Ok(&GiteaDriver),
        Some(kind @ (ForgeKind::Github | ForgeKind::Gitlab | ForgeKind::Local)) => {
            Err(ForgeError::Unsupported(format!("be used: this build has no adapter for a {kind} server")))
        }
    }
}

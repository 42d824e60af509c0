//! Who asks: the first token that is there.

use std::collections::BTreeMap;

use referee_http::Token;
use url::Url;

use super::nobody;
use super::runner::Runner;
use crate::config::ForgeEntry;
use crate::failure::Failure;

/// The variables of Forgejo's and Gitea's own tools.
const OWN: &[&str] = &["FORGEJO_TOKEN", "GITEA_TOKEN", "GITEA_SERVER_TOKEN"];

/// The token for a server.
///
/// Whoever sets `REFEREE_TOKEN` means it for the forge of this run. The forge's own variables are for the forge they came
/// from: in a job of a runner that is the runner's server alone, and no other forge gets to see them.
pub(super) fn find(
    server: &Url,
    runner: Option<&Runner>,
    entry: Option<&ForgeEntry>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Token, Failure> {
    let in_a_job = Runner::of(env).is_some();
    let own: &[&str] = match (runner, in_a_job) {
        (Some(_), _) => &["FORGEJO_TOKEN", "GITEA_TOKEN", "GITHUB_TOKEN"],
        (None, true) => &[],
        // On a person's machine `GITHUB_TOKEN` is for GitHub.
        (None, false) => OWN,
    };
    let found = std::iter::once(&"REFEREE_TOKEN").chain(own).find_map(|name| set(env(name)?));
    if let Some(token) = found {
        return Ok(Token::new(token));
    }
    match entry.and_then(|entry| entry.token.as_ref()) {
        Some(secret) => match secret.read(env) {
            Ok(text) => Ok(Token::new(text.expose())),
            Err(error) => Err(nobody(server, &error.to_string())),
        },
        None => Err(nobody(server, "there is no token for it")),
    }
}

/// Whether anything here could be a token: where nothing is, nobody needs to look for a forge.
pub(super) fn may_be_there(env: &dyn Fn(&str) -> Option<String>, forges: &BTreeMap<String, ForgeEntry>) -> bool {
    let is_set = |name: &&str| env(name).and_then(set).is_some();
    !forges.is_empty() || OWN.iter().chain(&["REFEREE_TOKEN", "GITHUB_TOKEN"]).any(is_set)
}

/// A variable that is there and empty is what a runner makes of a secret that nobody set.
fn set(value: String) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

//! Probing: which software runs at an address, and whose token it is.

use referee_core::model::{Login, MAX_READ_TEXT_BYTES};
use referee_http::{Client, ClientOptions, RouteRequest, Token};

use super::account::{GiteaAccount, error_from_http, parse_response};
use super::capabilities::{LateRoutes, lookup_capabilities};
use super::routes::{self, SWAGGER, USER, VERSION};
use super::{Flavour, GiteaServerInfo, wire};
use crate::ForgeError;

/// Asks what runs at an address; `options.base_url` is where the server's pages begin.
///
/// A server that answers and is neither Gitea nor Forgejo is `Unsupported`.
pub(super) async fn probe_with_client(client: &Client, reach: &ClientOptions) -> Result<GiteaServerInfo, ForgeError> {
    let what = "tell its version";
    let answer =
        client.send(&RouteRequest::new::<&str>(&VERSION, [])).await.map_err(|error| error_from_http(error, what))?;
    match answer.status {
        200..300 => {}
        401 => return Err(ForgeError::Unauthenticated),
        403 => return Err(ForgeError::Forbidden(format!("ask the server's version: {}", answer.message()))),
        429 | 500.. => return Err(ForgeError::RetryLater),
        _ => return Err(unsupported_server_error()),
    }
    let wire::Version { version } = parse_response(&answer, what).map_err(|_| unsupported_server_error())?;
    let flavour = Flavour::from_version(&version).ok_or_else(unsupported_server_error)?;
    let capabilities = match lookup_capabilities(flavour, &version) {
        Ok(known) => known,
        Err(unknown) => unknown.with_late_routes(probe_late_routes(reach).await),
    };
    Ok(GiteaServerInfo { flavour, version, capabilities })
}

/// Builds a client for the server at that address.
pub(super) fn build_client(reach: &ClientOptions, token: Option<Token>) -> Result<Client, ForgeError> {
    let mut reach = reach.clone();
    reach.token = token;
    reach.routes = routes::ALL;
    // A cut text must be longer than a text that is read whole.
    reach.limits.max_string_bytes = MAX_READ_TEXT_BYTES;
    match reach.base_url.path_segments_mut() {
        Ok(mut path) => path.pop_if_empty().extend(["api", "v1"]),
        Err(()) => return Err(ForgeError::Refused("the address has no host".to_owned())),
    };
    Client::new(reach).map_err(|error| error_from_http(error, "open a connection"))
}

/// Asks the server whose token it is.
pub(super) async fn fetch_login(client: &Client) -> Result<Login, ForgeError> {
    // The login is what this request asks for.
    let account = GiteaAccount { login: Login(String::new()), client: client.clone() };
    let what = "the token's own user";
    match account.send_and_parse::<wire::User>(&RouteRequest::new::<&str>(&USER, []), what).await {
        Ok(user) => user.login().ok_or_else(|| ForgeError::Unreadable(format!("{what}: it has no name"))),
        Err(ForgeError::Forbidden(_)) => {
            Err(ForgeError::Forbidden("tell whose it is: give it the scope `read:user`, or name its user".to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// Reads from the server's API description which of the newer routes it has; `None` where it publishes none.
async fn probe_late_routes(reach: &ClientOptions) -> Option<LateRoutes> {
    let mut reach = reach.clone();
    reach.routes = const { &[SWAGGER] };
    let answer = Client::new(reach).ok()?.send(&RouteRequest::new::<&str>(&SWAGGER, [])).await.ok()?;
    let value: serde_json::Value = answer.json().ok()?;
    let paths = value.get("paths")?.as_object()?;
    let has = |end: &str| paths.iter().any(|(path, verbs)| path.ends_with(end) && verbs.get("post").is_some());
    Some(LateRoutes { resolve: has("/pulls/comments/{id}/resolve"), replies: has("/replies") })
}

fn unsupported_server_error() -> ForgeError {
    ForgeError::Unsupported("be spoken to: it is neither Gitea nor Forgejo".to_owned())
}

impl Flavour {
    /// Recognises the software by its version. Forgejo appends the Gitea version it derives from: `10.0.0+gitea-1.22.0`.
    fn from_version(version: &str) -> Option<Self> {
        let number = version.starts_with(|first: char| first.is_ascii_digit());
        number.then(|| if version.contains("+gitea-") { Self::Forgejo } else { Self::Gitea })
    }
}

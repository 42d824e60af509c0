//! The library's client, as the operator wants it.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use url::Url;

use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::token::Token;

/// Below what servers and proxies usually grant, so that a write seldom meets a connection that is just being closed.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// What the operator says of this server, and nothing of the environment.
pub(crate) fn build_http_client(reach: &ClientOptions) -> Result<reqwest::Client, HttpError> {
    validate_base_url(&reach.base_url)?;
    // Fails if it was done before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    if let Some(token) = &reach.token {
        headers.insert(AUTHORIZATION, authorization_header(token)?);
    }
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("referee/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(reach.limits.connect_timeout)
        .timeout(reach.limits.request_timeout)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT);
    if let Some(pem) = &reach.extra_ca_pem {
        let trusted = reqwest::Certificate::from_pem_bundle(pem).unwrap_or_default();
        if trusted.is_empty() {
            return Err(invalid_options("there is no certificate in what shall be trusted: it is read as PEM"));
        }
        builder = builder.tls_certs_merge(trusted);
    }
    if let Some(proxy) = &reach.proxy {
        let proxy =
            reqwest::Proxy::all(proxy.clone()).map_err(|_| invalid_options("the address of the proxy is none"))?;
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|_| invalid_options("no client can be built for this address"))
}

fn validate_base_url(base: &Url) -> Result<(), HttpError> {
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        return Err(invalid_options("an address of a server begins with `https://` or `http://`"));
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(invalid_options("the address holds a name or a password: the token has a place of its own"));
    }
    if base.query().is_some() || base.fragment().is_some() {
        return Err(invalid_options("the address of a server has no `?` and no `#`"));
    }
    Ok(())
}

fn authorization_header(token: &Token) -> Result<HeaderValue, HttpError> {
    let wrong = |_| invalid_options("the token holds characters that no token has, such as a line break");
    let mut value = HeaderValue::from_str(&format!("token {}", token.reveal())).map_err(wrong)?;
    value.set_sensitive(true);
    Ok(value)
}

fn invalid_options(why: &str) -> HttpError {
    HttpError::InvalidOptions(why.to_owned())
}

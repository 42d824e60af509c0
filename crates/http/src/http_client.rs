//! Builds the `reqwest` client from the options.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use url::Url;

use crate::client_options::ClientOptions;
use crate::error::HttpError;
use crate::token::Token;

/// Shorter than the keep-alive of common servers and proxies, so that a write rarely hits a connection being closed.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Builds the client from the options alone: neither the environment's proxies nor automatic redirects apply.
pub(crate) fn build_http_client(options: &ClientOptions) -> Result<reqwest::Client, HttpError> {
    validate_base_url(&options.base_url)?;
    // Fails if a provider is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    if let Some(token) = &options.token {
        headers.insert(AUTHORIZATION, authorization_header(token)?);
    }
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("referee/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(Policy::none())
        .no_proxy()
        .connect_timeout(options.limits.connect_timeout)
        .timeout(options.limits.request_timeout)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT);
    if let Some(pem) = &options.extra_ca_pem {
        let trusted = reqwest::Certificate::from_pem_bundle(pem).unwrap_or_default();
        if trusted.is_empty() {
            return Err(invalid_options("the CA file contains no certificate; it must be PEM"));
        }
        builder = builder.tls_certs_merge(trusted);
    }
    if let Some(proxy) = &options.proxy {
        let proxy = reqwest::Proxy::all(proxy.clone()).map_err(|_| invalid_options("the proxy URL is not valid"))?;
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|_| invalid_options("cannot build an HTTP client for this server URL"))
}

fn validate_base_url(base: &Url) -> Result<(), HttpError> {
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        return Err(invalid_options("the server URL must start with `https://` or `http://`"));
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(invalid_options("the server URL contains a user name or password; pass the token separately"));
    }
    if base.query().is_some() || base.fragment().is_some() {
        return Err(invalid_options("the server URL must not contain `?` or `#`"));
    }
    Ok(())
}

fn authorization_header(token: &Token) -> Result<HeaderValue, HttpError> {
    let invalid = |_| invalid_options("the token contains an invalid character, such as a line break");
    let mut value = HeaderValue::from_str(&format!("token {}", token.reveal())).map_err(invalid)?;
    value.set_sensitive(true);
    Ok(value)
}

fn invalid_options(reason: &str) -> HttpError {
    HttpError::InvalidOptions(reason.to_owned())
}

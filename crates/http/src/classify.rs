//! Turns a `reqwest` error into a failure reason for people, without path, query or token.

use std::error::Error;
use std::io;

use crate::attempt_error::AttemptError;
use crate::client_options::ClientLimits;

/// Returns whether the request was sent, and why the attempt failed.
pub(crate) fn classify_error(error: &reqwest::Error, limits: &ClientLimits) -> AttemptError {
    if error.is_builder() {
        return AttemptError::Unsent("the request cannot be built".to_owned());
    }
    if error.is_connect() {
        return AttemptError::Unsent(describe_connect_error(error, limits));
    }
    AttemptError::ResponseLost(match find_cause::<io::Error>(error).map(io::Error::kind) {
        _ if error.is_timeout() => format!("no complete response within {:?}", limits.request_timeout),
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted) => {
            "the server closed the connection before it answered".to_owned()
        }
        _ if error.is_decode() || error.is_body() => "the response was cut off".to_owned(),
        _ => "the server closed the connection before it answered, or does not speak HTTP".to_owned(),
    })
}

fn describe_connect_error(error: &reqwest::Error, limits: &ClientLimits) -> String {
    if error.is_dns() {
        return "the host name cannot be resolved".to_owned();
    }
    if error.is_timeout() {
        return format!("no connection within {:?}", limits.connect_timeout);
    }
    if let Some(tls) = find_cause::<rustls::Error>(error) {
        return match tls {
            rustls::Error::InvalidCertificate(reason) => format!("its certificate is not trusted ({reason})"),
            _ => format!("the TLS handshake failed ({tls})"),
        };
    }
    match find_cause::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "the connection was refused".to_owned(),
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
            "there is no route to the host".to_owned()
        }
        _ => "the connection failed".to_owned(),
    }
}

/// Returns the innermost cause of type `T`. `io::Error::source` skips the error it wraps, hence `get_ref`.
fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let wrapped = || error.downcast_ref::<io::Error>()?.get_ref().map(|inner| inner as &(dyn Error + 'static));
    let inner = wrapped().or_else(|| error.source());
    inner.and_then(find_cause).or_else(|| error.downcast_ref())
}

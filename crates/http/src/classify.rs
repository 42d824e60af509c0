//! Why a try failed, in words for people: nothing of a path, a query or a token.

use std::error::Error;
use std::io;

use crate::attempt_error::AttemptError;
use crate::client_options::ClientLimits;

/// What an error of the library means.
pub(crate) fn classify_error(error: &reqwest::Error, limits: &ClientLimits) -> AttemptError {
    if error.is_builder() {
        return AttemptError::Unsent("the request cannot be built".to_owned());
    }
    if error.is_connect() {
        return AttemptError::Unsent(describe_connect_error(error, limits));
    }
    AttemptError::ResponseLost(match find_cause::<io::Error>(error).map(io::Error::kind) {
        _ if error.is_timeout() => format!("there was no whole answer within {:?}", limits.request_timeout),
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted) => {
            "it broke the connection off before the answer".to_owned()
        }
        _ if error.is_decode() || error.is_body() => "its answer was cut off".to_owned(),
        _ => "it broke the connection off before the answer, or answered in another protocol".to_owned(),
    })
}

fn describe_connect_error(error: &reqwest::Error, limits: &ClientLimits) -> String {
    if error.is_dns() {
        return "its name cannot be resolved".to_owned();
    }
    if error.is_timeout() {
        return format!("there was no connection within {:?}", limits.connect_timeout);
    }
    if let Some(tls) = find_cause::<rustls::Error>(error) {
        return match tls {
            rustls::Error::InvalidCertificate(why) => format!("its certificate is not trusted ({why})"),
            _ => format!("it does not speak TLS as expected ({tls})"),
        };
    }
    match find_cause::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "the connection is refused".to_owned(),
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => "no way leads there".to_owned(),
        _ => "no connection comes about".to_owned(),
    }
}

/// The innermost cause of a kind. An `io::Error` hides what it wraps from `source`.
fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let wrapped = || error.downcast_ref::<io::Error>()?.get_ref().map(|it| it as &(dyn Error + 'static));
    let inner = wrapped().or_else(|| error.source());
    inner.and_then(find_cause).or_else(|| error.downcast_ref())
}

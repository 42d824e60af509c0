//! What git asks of the server, answered by git itself from a repository on this machine.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use axum::body::Body;
use axum::http::Response;
use axum::http::request::Parts;

/// The answer of `git http-backend` to a request below `/OWNER/NAME.git`. Whoever asks may read.
pub(super) fn run_http_backend(bare: &Path, head: &Parts, body: &[u8]) -> Response<Body> {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let below: String = head.uri.path().split('/').skip(3).flat_map(|part| ["/", part]).collect();
    let mut git = Command::new("git");
    git.arg("http-backend")
        .env("GIT_PROJECT_ROOT", bare)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", below)
        .env("REQUEST_METHOD", head.method.as_str())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = git.spawn().expect("git is there");
    // Whoever does not read what was sent tells why in the answer.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(body));
    let told = child.wait_with_output().expect("git ends").stdout;
    parse_cgi_response(&told)
}

/// Headers in lines, an empty one, and the rest.
fn parse_cgi_response(told: &[u8]) -> Response<Body> {
    let end = told.windows(4).position(|it| it == b"\r\n\r\n").unwrap_or(told.len());
    let (headers, body) = (&told[..end], told.get(end + 4..).unwrap_or_default());
    let headers = String::from_utf8_lossy(headers).into_owned();
    let mut response = Response::builder();
    for (name, value) in headers.lines().filter_map(|line| line.split_once(": ")) {
        response = match name {
            "Status" => response.status(value.split(' ').next().unwrap_or_default()),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(body.to_vec())).expect("git speaks HTTP")
}

//! Git over HTTP, served by `git http-backend` from a bare repository.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use axum::body::Body;
use axum::http::Response;
use axum::http::request::Parts;

/// Returns the response of `git http-backend` to a request below `/OWNER/NAME.git`. Everybody may read.
pub(super) fn run_http_backend(bare: &Path, head: &Parts, body: &[u8]) -> Response<Body> {
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path_info: String = head.uri.path().split('/').skip(3).flat_map(|part| ["/", part]).collect();
    let mut git = Command::new("git");
    git.arg("http-backend")
        .env("GIT_PROJECT_ROOT", bare)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path_info)
        .env("REQUEST_METHOD", head.method.as_str())
        .env("QUERY_STRING", head.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = git.spawn().expect("start git");
    // If git stops reading the body, its response says why.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(body));
    let output = child.wait_with_output().expect("wait for git").stdout;
    parse_cgi_response(&output)
}

/// Parses a CGI response: header lines, an empty line, the body.
fn parse_cgi_response(output: &[u8]) -> Response<Body> {
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(output.len());
    let (headers, body) = (&output[..end], output.get(end + 4..).unwrap_or_default());
    let headers = String::from_utf8_lossy(headers).into_owned();
    let mut response = Response::builder();
    for (name, value) in headers.lines().filter_map(|line| line.split_once(": ")) {
        response = match name {
            "Status" => response.status(value.split(' ').next().unwrap_or_default()),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(body.to_vec())).expect("a valid CGI response")
}

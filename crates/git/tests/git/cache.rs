use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use referee_core::model::Sha;
use referee_git::{Credentials, Git, GitError};

use crate::repository::Repository;

#[test]
fn remote_commits_are_fetched_by_id() {
    let origin = Repository::new();
    origin.write("file", "one\n");
    let first = origin.commit();
    origin.write("file", "two\n");
    let second = origin.commit();
    origin.run(&["reset", "--quiet", "--hard", "HEAD~1"]);
    origin.run(&["config", "uploadpack.allowFilter", "true"]);
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Git::open_cache(&dir.path().join("deep/cache")).expect("a cache");
    let url = format!("file://{}", origin.path("").display());
    cache.fetch_commits(&url, &[second.clone(), first.clone()], None).expect("commits of any branch");
    cache.fetch_commits(&url, std::slice::from_ref(&second), None).expect("fetching twice works");
    let again = Git::open_cache(&dir.path().join("deep/cache")).expect("it is there");
    assert!(again.is_ancestor(&first, &second).expect("a result"));
    assert!(!again.diff(&first, &second).expect("blobs are fetched on first read").is_empty());
    assert_eq!(again.read_files(&second, &["file"]).expect("a file"), [Some(b"two\n".to_vec())]);
    assert_eq!(Git::discover(&dir.path().join("deep/cache")).expect("a repository").work_tree_root(), None);

    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(cache.fetch_commits(&url, &[missing], None), Err(GitError::CommandFailed { .. })));
    assert!(cache.fetch_commits(&url, &[], None).is_ok());
    let plain = Git::open_cache(&dir.path().join("plain")).expect("a cache");
    plain.fetch_commits(origin.path("").to_str().expect("text"), &[first], None).expect("a local path works");
}

#[test]
fn unsupported_urls_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let any = Sha::from("0123456789012345678901234567890123456789");
    for url in [
        "ext::sh -c touch% started",
        "git://localhost/a",
        "ftp://localhost/a",
        "--upload-pack=touch started",
        "relative/path",
        "https://user:hunter2@localhost/a",
        "https://hunter2@localhost/a",
        "ssh://git:hunter2@localhost/a",
        "",
    ] {
        let error = cache.fetch_commits(url, std::slice::from_ref(&any), None).expect_err("it is refused");
        assert!(matches!(error, GitError::UnsupportedUrl { .. }), "{url}: {error:?}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    assert!(!dir.path().join("started").exists());
}

/// The server records the request and redirects to another one.
#[test]
fn credentials_reach_the_server_but_no_redirect_target_no_output_and_no_file() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let other_server = TcpListener::bind("127.0.0.1:0").expect("a port");
    other_server.set_nonblocking(true).expect("a port");
    let address = server.local_addr().expect("an address");
    let url = format!("http://{address}/a.git");
    let target =
        format!("http://{}/a.git/info/refs?service=git-upload-pack", other_server.local_addr().expect("an address"));
    let request = std::thread::spawn(move || {
        let (stream, _) = server.accept().expect("a connection");
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let response =
            format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        (&stream).write_all(response.as_bytes()).expect("a response");
        request
    });
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let mut config = OpenOptions::new().append(true).open(dir.path().join("config")).expect("a file");
    config.write_all(b"[http]\n\tproxy =\n").expect("a config without the machine's proxy");
    // The most specific setting wins in git, wherever it stands.
    config.write_all(format!("[http \"{url}\"]\n\tfollowRedirects = true\n").as_bytes()).expect("a config");
    let credentials = Credentials::new("x-access-token", "hunter2");
    let any = Sha::from("0123456789012345678901234567890123456789");
    let error = cache.fetch_commits(&url, &[any], Some(&credentials)).expect_err("there is no repository");
    // Ends `accept` if git sent no request.
    drop(TcpStream::connect(address));
    let request = request.join().expect("a request");
    assert!(request.contains(&"Authorization: Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==".to_owned()), "{request:?}");
    assert!(other_server.accept().is_err(), "git must not follow the redirect with credentials");
    let with_credentials = cache.with_credentials(&url, &credentials);
    for output in [error.to_string(), format!("{error:?}"), format!("{with_credentials:?}")] {
        assert!(!output.contains("hunter2") && !output.contains("eC1hY2"), "{output}");
    }
    let config = std::fs::read_to_string(dir.path().join("config")).expect("a file");
    assert!(!config.contains("hunter2") && !config.contains("eC1hY2"), "{config}");
}

/// Git prints the text of an error as lines of its own.
#[test]
fn credentials_that_the_server_repeats_are_masked_and_its_lines_are_joined() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in server.incoming().map_while(Result::ok) {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let sent = headers.iter().find(|line| line.starts_with("Authorization")).cloned().unwrap_or_default();
            let body = format!("{sent}\nhunter2\n\u{1b}[2Jverdict: approved\n");
            let length = body.len();
            let head = "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length:";
            let _ = (&stream).write_all(format!("{head} {length}\r\n\r\n{body}").as_bytes());
        }
    });
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let mut config = OpenOptions::new().append(true).open(dir.path().join("config")).expect("a file");
    config.write_all(b"[http]\n\tproxy =\n").expect("a config without the machine's proxy");
    let any = Sha::from("0123456789012345678901234567890123456789");
    let error = cache
        .fetch_commits(&format!("http://{address}/a.git"), &[any], Some(&Credentials::new("referee", "hunter2")))
        .expect_err("it is forbidden")
        .to_string();
    assert!(error.contains("remote: Authorization: Basic … remote: …"), "{error}");
    assert!(!error.contains("hunter2") && !error.contains(char::is_control), "{error}");
}

#[test]
fn a_fetch_goes_through_the_configured_proxy() {
    let proxy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = proxy.local_addr().expect("an address");
    let request_line = std::thread::spawn(move || {
        let (stream, _) = proxy.accept().expect("a connection");
        let line = BufReader::new(&stream).lines().next().expect("a line").expect("a line");
        (&stream)
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .expect("a response");
        line
    });
    let dir = tempfile::tempdir().expect("a directory");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let credentials =
        Credentials { proxy: Some(format!("http://{address}")), ..Credentials::new("referee", "hunter2") };
    let any = Sha::from("0123456789012345678901234567890123456789");
    cache
        .fetch_commits("http://git.example.invalid/a.git", &[any], Some(&credentials))
        .expect_err("there is no repository");
    drop(TcpStream::connect(address));
    let line = request_line.join().expect("a request");
    assert!(line.starts_with("GET http://git.example.invalid/a.git/info/refs"), "{line}");
}

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use referee_core::model::Sha;
use referee_git::{Credentials, Git, GitError};

use crate::repository::Repository;

#[test]
fn commits_of_elsewhere_are_fetched_by_name() {
    let origin = Repository::new();
    origin.write("file", "one\n");
    let first = origin.commit();
    origin.write("file", "two\n");
    let second = origin.commit();
    origin.run(&["reset", "--quiet", "--hard", "HEAD~1"]);
    origin.run(&["config", "uploadpack.allowFilter", "true"]);
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Git::open_cache(&dir.path().join("deep/cache")).expect("a cache");
    let url = format!("file://{}", origin.path("").display());
    cache
        .fetch_commits(&url, &[second.clone(), first.clone()], None)
        .expect("they are fetched, whatever branch they are on");
    cache.fetch_commits(&url, std::slice::from_ref(&second), None).expect("again is the same");
    let again = Git::open_cache(&dir.path().join("deep/cache")).expect("it is there");
    assert!(again.is_ancestor(&first, &second).expect("an answer"));
    assert!(!again.diff(&first, &second).expect("contents come when they are read").is_empty());
    assert_eq!(again.read_files(&second, &["file"]).expect("a file"), [Some(b"two\n".to_vec())]);
    assert_eq!(Git::discover(&dir.path().join("deep/cache")).expect("a repository").work_tree_root(), None);

    let nobody = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(cache.fetch_commits(&url, &[nobody], None), Err(GitError::CommandFailed { .. })));
    assert!(cache.fetch_commits(&url, &[], None).is_ok());
    let plain = Git::open_cache(&dir.path().join("plain")).expect("a cache");
    plain.fetch_commits(origin.path("").to_str().expect("text"), &[first], None).expect("a path is an address");
}

#[test]
fn only_known_protocols_are_spoken() {
    let dir = tempfile::tempdir().expect("a folder");
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

/// A server on this machine that sends whoever asks elsewhere, and says what it was asked.
#[test]
fn credentials_reach_the_server_and_nobody_else() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    elsewhere.set_nonblocking(true).expect("a port");
    let address = server.local_addr().expect("an address");
    let url = format!("http://{address}/a.git");
    let target =
        format!("http://{}/a.git/info/refs?service=git-upload-pack", elsewhere.local_addr().expect("an address"));
    let asked = std::thread::spawn(move || {
        let (stream, _) = server.accept().expect("somebody asks");
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let asked: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let answer =
            format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        (&stream).write_all(answer.as_bytes()).expect("it is answered");
        asked
    });
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let mut config = OpenOptions::new().append(true).open(dir.path().join("config")).expect("a file");
    config.write_all(b"[http]\n\tproxy =\n").expect("a machine's proxy is left out");
    let credentials = Credentials::new("x-access-token", "hunter2");
    let any = Sha::from("0123456789012345678901234567890123456789");
    let error = cache.fetch_commits(&url, &[any], Some(&credentials)).expect_err("there is no repository");
    // Whoever did not ask leaves the server waiting.
    drop(TcpStream::connect(address));
    let asked = asked.join().expect("it was asked");
    assert!(asked.contains(&"Authorization: Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==".to_owned()), "{asked:?}");
    assert!(elsewhere.accept().is_err(), "credentials would be passed on");
    let lent = cache.with_credentials(&url, &credentials);
    for shown in [error.to_string(), format!("{error:?}"), format!("{lent:?}")] {
        assert!(!shown.contains("hunter2") && !shown.contains("eC1hY2"), "{shown}");
    }
    let config = std::fs::read_to_string(dir.path().join("config")).expect("a file");
    assert!(!config.contains("hunter2") && !config.contains("eC1hY2"), "{config}");
}

#[test]
fn a_server_is_asked_through_the_operator_s_proxy() {
    let proxy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = proxy.local_addr().expect("an address");
    let asked = std::thread::spawn(move || {
        let (stream, _) = proxy.accept().expect("somebody asks");
        let line = BufReader::new(&stream).lines().next().expect("a line").expect("a line");
        (&stream).write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").expect("said");
        line
    });
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Git::open_cache(dir.path()).expect("a cache");
    let credentials =
        Credentials { proxy: Some(format!("http://{address}")), ..Credentials::new("referee", "hunter2") };
    let any = Sha::from("0123456789012345678901234567890123456789");
    cache
        .fetch_commits("http://git.example.invalid/a.git", &[any], Some(&credentials))
        .expect_err("there is no repository");
    drop(TcpStream::connect(address));
    let line = asked.join().expect("it was asked");
    assert!(line.starts_with("GET http://git.example.invalid/a.git/info/refs"), "{line}");
}

//! Which server gets a token (D45), and that no output repeats the password of a URL.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::test_repo::{RunOutput, TestRepo};

/// A server that records every request and pretends to be Gitea.
struct Impostor {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Impostor {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                log.lock().expect("the log").push(request.join("\n"));
                let body = r#"{"version":"1.27.3"}"#;
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
                let _ = (&stream).write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
            }
        });
        Self { url, requests }
    }

    fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().expect("the log"))
    }
}

const TOKEN: &str = "hush-token-0451";

// spec: D45, SAF-4 @local
#[test]
fn a_server_that_only_the_remote_names_never_sees_the_token() {
    let server = Impostor::start();
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "a = 1\n")]);
    repo.git(&["remote", "add", "origin", &format!("{}/acme/api.git", server.url)]);
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        RunOutput::from_output(repo.referee(args).envs(variables.to_vec()).output().expect("referee runs"))
    };
    for name in ["REFEREE_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN", "GITEA_SERVER_TOKEN"] {
        for args in [
            &["review"][..],
            &["review", "7"],
            &["review", "acme/api#7"],
            &["review", "--repo", "acme/api", "--pr", "7"],
            &["review", "--forge-kind", "gitea"],
            &["comments"],
            &["status"],
            &["watch", "--once"],
        ] {
            let ran = run(&[(name, TOKEN)], args);
            assert_eq!(ran.code, 4, "{name} {args:?}: {}", ran.err);
            assert!(ran.err.contains(&format!("`REFEREE_FORGE_URL={}/`", server.url)), "{}", ran.err);
        }
        let ran = run(&[(name, TOKEN)], &["doctor"]);
        assert!(ran.code == 1 && ran.out.contains("no token is sent to"), "{}{}", ran.out, ran.err);
    }
    let requests = server.take_requests();
    assert!(!requests.is_empty(), "the server is asked what it is");
    for request in requests {
        assert!(request.starts_with("GET /api/v1/version ") && !request.contains(TOKEN), "{request}");
    }
    // Without a token, or if the person says so, pulls are local as ever.
    assert_eq!(run(&[], &["review"]).code, 0);
    assert_eq!(run(&[("REFEREE_TOKEN", TOKEN)], &["review", "--forge-kind", "local"]).code, 0);
    assert_eq!(server.take_requests(), [""; 0]);
    // A named server gets it.
    for named in [("REFEREE_FORGE_URL", "REFEREE_TOKEN"), ("GITEA_SERVER_URL", "GITEA_TOKEN")] {
        run(&[(named.0, &server.url), (named.1, TOKEN)], &["review", "7"]);
        assert!(server.take_requests().iter().any(|request| request.contains(TOKEN)), "{named:?}");
    }
}

// spec: D45, SAF-4 @local
#[test]
fn the_password_of_a_forge_url_is_never_repeated() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "a = 1\n")]);
    for url in [
        "https://bot:hush-0451@git.example.org",
        "https://hush-0451@git.example.org/sub",
        "https://bot:hush-0451@git.example.org:99999",
        "https://bot:a/hush-0451@git.example.org",
        "ftp://bot:hush-0451@git.example.org",
        "bot:hush-0451@git.example.org",
    ] {
        for args in
            [&["review"][..], &["review", "--json", "-vv"], &["doctor", "--json"], &["status"], &["review", "--help"]]
        {
            let by_flag = [args, &["--forge-url", url]].concat();
            for (args, variable) in [(&by_flag[..], None), (args, Some(("REFEREE_FORGE_URL", url)))] {
                let mut command = repo.referee(args);
                command.env("REFEREE_TOKEN", TOKEN).env("REFEREE_PULL", format!("{url}/acme/api/pulls/7"));
                let ran = RunOutput::from_output(command.envs(variable).output().expect("referee runs"));
                assert!(ran.code == 2 || args.contains(&"--help"), "{args:?}: {} {}", ran.code, ran.err);
                assert!(!ran.out.contains("hush") && !ran.err.contains("hush"), "{args:?}: {}{}", ran.out, ran.err);
            }
        }
        let ran = repo.run(&["review", "--forge-ur", url]);
        assert!(ran.code == 2 && !ran.err.contains("hush"), "{}", ran.err);
        let ran = repo.run(&["review", &format!("{url}/acme/api/pulls/7")]);
        assert!(ran.code == 2 && !ran.err.contains("hush") || !url.contains("://"), "{}", ran.err);
    }
}

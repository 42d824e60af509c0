//! A worker that tries to use the network.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use referee_testkit::server::ServerBuild;

use super::{HostileProject, TIER_1, TIER_2};
use crate::on_each_server;

on_each_server! {
    tier_2_reaches_only_the_model_server
    the_server_accepts_nothing_without_a_token
}

/// Somebody on this machine who does something when they are asked, and answers with a word.
pub(super) struct Listener {
    address: String,
    heard: Arc<AtomicUsize>,
}

impl Listener {
    pub(super) fn new(word: &'static str, mut deed: impl FnMut() + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let heard = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&heard);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                deed();
                let length = word.len();
                let _ =
                    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{word}");
            }
        });
        Self { address, heard }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(super) fn heard(&self) -> usize {
        self.heard.load(Ordering::SeqCst)
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn tier_2_reaches_only_the_model_server(build: ServerBuild) {
    let project = HostileProject::new(build);
    let (model, other) = (Listener::new("a model", || ()), Listener::new("another", || ()));
    let entry = format!("{TIER_2}egress = [\"{}\"]\n", model.address);
    let [allowed, forbidden] = [model.url(), other.url()];
    let marked = format!("{}/hostile", project.site.proxy.url());
    let server = project.site.repo.server().url();
    let attempt = project.run_worker(&entry, &["reach", &allowed, &forbidden, &marked, &server]);
    assert_eq!(attempt.heads[0], attempt.heads[1]);
    assert!(attempt.log.contains(&format!("reached {allowed}: a model, relayed: a model\n")), "{attempt:?}");
    for url in [&forbidden, &marked, &server] {
        assert!(attempt.log.contains(&format!("reached {url}: , relayed: \n")), "{attempt:?}");
    }
    assert!(attempt.log.contains("sandbox: "), "what was refused is in the log: {attempt:?}");
    assert_eq!((model.heard(), other.heard()), (2, 0));
    assert!(!project.site.proxy.log().iter().any(|it| it.path.contains("hostile")), "{:?}", project.site.proxy.log());

    let api = format!("{server}/api/v1/repos/{}", project.site.repo.full_name());
    let attempt = project.run_worker(&entry, &["ask", &api]);
    assert_eq!(attempt.log.matches(": 000\n").count(), 6, "{attempt:?}");
    let attempt = project.run_worker(&entry, &["push", &project.site.repo.url()]);
    attempt.assert_refused("failed", "it left no result");
    assert!(!attempt.log.contains("it was pushed"), "{attempt:?}");
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn the_server_accepts_nothing_without_a_token(build: ServerBuild) {
    let project = HostileProject::new(build);
    let api = format!("{}/api/v1/repos/{}", project.site.repo.server().url(), project.site.repo.full_name());
    let attempt = project.run_worker(TIER_1, &["ask", &api]);
    let codes: Vec<&str> = attempt
        .log
        .lines()
        .filter(|line| line.starts_with("asked "))
        .filter_map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!(codes.len(), 6, "{attempt:?}");
    assert!(codes.iter().all(|code| ["401", "403", "404"].contains(code)), "{codes:?}");
    assert!(!attempt.comments.contains("it is fine"), "{attempt:?}");
    assert_eq!(project.site.at("alice", attempt.pull).list_reviews().len(), 0, "{attempt:?}");
    let attempt = project.run_worker(TIER_1, &["push", &project.site.repo.url()]);
    attempt.assert_refused("failed", "it left no result");
    assert!(!attempt.log.contains("it was pushed"), "{attempt:?}");
}

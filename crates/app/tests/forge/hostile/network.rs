//! A worker that wants to speak to somebody.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use referee_testkit::server::ServerBuild;

use super::{APART, Den, SEALED};
use crate::on_each_server;

on_each_server! {
    the_model_server_is_all_there_is_in_tier_2
    a_server_takes_nothing_from_who_has_no_token
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
fn the_model_server_is_all_there_is_in_tier_2(build: ServerBuild) {
    let den = Den::new(build);
    let (model, other) = (Listener::new("a model", || ()), Listener::new("another", || ()));
    let entry = format!("{SEALED}egress = [\"{}\"]\n", model.address);
    let [allowed, forbidden] = [model.url(), other.url()];
    let marked = format!("{}/hostile", den.site.proxy.url());
    let server = den.site.repo.server().url();
    let fate = den.send(&entry, &["reach", &allowed, &forbidden, &marked, &server]);
    assert_eq!(fate.heads[0], fate.heads[1]);
    assert!(fate.log.contains(&format!("reached {allowed}: a model, relayed: a model\n")), "{fate:?}");
    for url in [&forbidden, &marked, &server] {
        assert!(fate.log.contains(&format!("reached {url}: , relayed: \n")), "{fate:?}");
    }
    assert!(fate.log.contains("sandbox: "), "what was refused is in the log: {fate:?}");
    assert_eq!((model.heard(), other.heard()), (2, 0));
    assert!(!den.site.proxy.log().iter().any(|it| it.path.contains("hostile")), "{:?}", den.site.proxy.log());

    let api = format!("{server}/api/v1/repos/{}", den.site.repo.full_name());
    let fate = den.send(&entry, &["ask", &api]);
    assert_eq!(fate.log.matches(": 000\n").count(), 6, "{fate:?}");
    let fate = den.send(&entry, &["push", &den.site.repo.url()]);
    fate.refused("failed", "it left no result");
    assert!(!fate.log.contains("it was pushed"), "{fate:?}");
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_server_takes_nothing_from_who_has_no_token(build: ServerBuild) {
    let den = Den::new(build);
    let api = format!("{}/api/v1/repos/{}", den.site.repo.server().url(), den.site.repo.full_name());
    let fate = den.send(APART, &["ask", &api]);
    let codes: Vec<&str> =
        fate.log.lines().filter(|line| line.starts_with("asked ")).filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(codes.len(), 6, "{fate:?}");
    assert!(codes.iter().all(|code| ["401", "403", "404"].contains(code)), "{codes:?}");
    assert!(!fate.said.contains("it is fine"), "{fate:?}");
    assert_eq!(den.site.at("alice", fate.pull).list_reviews().len(), 0, "{fate:?}");
    let fate = den.send(APART, &["push", &den.site.repo.url()]);
    fate.refused("failed", "it left no result");
    assert!(!fate.log.contains("it was pushed"), "{fate:?}");
}

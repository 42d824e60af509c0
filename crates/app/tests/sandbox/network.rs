//! The network of tier 2: the listed endpoints, and nothing else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use serde_json::json;

use crate::sandbox_run::SandboxRun;

/// Starts an HTTP server that answers every request with its name.
fn start_server(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 1024];
            let _ = stream.read(&mut head);
            let _ =
                write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{name}", name.len());
        }
    });
    address
}

#[test]
fn only_the_listed_server_can_be_reached() {
    let (listed, other) = (start_server("listed"), start_server("other"));
    let run = SandboxRun::new(2).with("egress", json!([listed.to_string()]));
    let finished = run.run(&format!(
        "curl -s -m 9 http://{listed}/; echo; \
         curl -s -m 9 --noproxy '' http://{listed}/; echo; \
         curl -s -m 9 --noproxy '' -p -x $http_proxy http://{listed}/; echo; \
         curl -s -m 9 http://{other}/ || echo no direct way; \
         curl -s -m 9 -f --noproxy '' http://{other}/ || echo no way by the proxy; \
         curl -s -m 9 -f --noproxy '' -p http://{other}/ || echo no way through it; \
         curl -s -m 9 -f https://forge.example/ || echo no name"
    ));
    let want = "listed\nlisted\nlisted\nno direct way\n";
    assert!(finished.log.starts_with(want), "{}", finished.log);
    for part in
        ["no way by the proxy", "no way through it", "no name", &format!("sandbox: refused to connect to `{other}`")]
    {
        assert!(finished.log.contains(part), "{part}: {}", finished.log);
    }
    assert!(finished.log.contains("sandbox: refused to connect to `forge.example:443`"), "{}", finished.log);
    assert!(!finished.log.contains("\nother"), "{}", finished.log);
}

#[test]
fn without_egress_there_is_no_network() {
    let other = start_server("other");
    let finished = SandboxRun::new(2)
        .run(&format!("env | grep -i proxy; ls /run/referee; curl -s -m 9 http://{other}/ || echo none"));
    assert_eq!(finished.log, "program\nnone\n");
}

#[test]
fn a_server_that_is_down_is_logged_as_unreachable_not_as_refused() {
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let run = SandboxRun::new(2).with("egress", json!([gone.to_string()]));
    let finished = run.run(&format!("curl -s -m 9 http://{gone}/ || echo none"));
    assert!(
        finished.log.contains("none") && finished.log.contains(&format!("sandbox: could not connect to `{gone}`")),
        "{}",
        finished.log
    );
}

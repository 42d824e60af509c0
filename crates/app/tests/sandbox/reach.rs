//! What a worker reaches in tier 2: what is listed, and nothing else.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use crate::room::Room;

/// A server that says its name to whoever comes.
fn server(name: &'static str) -> SocketAddr {
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
fn the_listed_server_is_reached_and_no_other() {
    let (listed, other) = (server("listed"), server("other"));
    let room = Room::new("2").with(&["--egress", &listed.to_string()]);
    let ran = room.run(&format!(
        "curl -s -m 9 http://{listed}/; echo; \
         curl -s -m 9 --noproxy '' http://{listed}/; echo; \
         curl -s -m 9 --noproxy '' -p -x $http_proxy http://{listed}/; echo; \
         curl -s -m 9 http://{other}/ || echo no direct way; \
         curl -s -m 9 -f --noproxy '' http://{other}/ || echo no way by the proxy; \
         curl -s -m 9 -f --noproxy '' -p http://{other}/ || echo no way through it; \
         curl -s -m 9 -f https://forge.example/ || echo no name"
    ));
    let want = "listed\nlisted\nlisted\nno direct way\n";
    assert!(ran.log.starts_with(want), "{}", ran.log);
    for part in
        ["no way by the proxy", "no way through it", "no name", &format!("sandbox: refused to connect to `{other}`")]
    {
        assert!(ran.log.contains(part), "{part}: {}", ran.log);
    }
    assert!(ran.log.contains("sandbox: refused to connect to `forge.example:443`"), "{}", ran.log);
    assert!(!ran.log.contains("\nother"), "{}", ran.log);
}

#[test]
fn without_a_list_there_is_no_way_out() {
    let other = server("other");
    let ran =
        Room::new("2").run(&format!("env | grep -i proxy; ls /run/referee; curl -s -m 9 http://{other}/ || echo none"));
    assert_eq!(ran.log, "program\nnone\n");
}

#[test]
fn a_server_that_is_down_is_not_a_refusal() {
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let ran =
        Room::new("2").with(&["--egress", &gone.to_string()]).run(&format!("curl -s -m 9 http://{gone}/ || echo none"));
    assert!(
        ran.log.contains("none") && ran.log.contains(&format!("sandbox: could not connect to `{gone}`")),
        "{}",
        ran.log
    );
}

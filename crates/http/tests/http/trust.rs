//! Whom a client trusts: the system's certificates, and what the operator adds.
//!
//! `tls/` holds a server's certificate and key for loopback, and the certificate of an authority that signed it and whose
//! key is gone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use referee_http::{Client, ClientOptions, Route, RouteRequest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::reach;

const VERSION: Route = Route::get("/version");
const ROUTES: &[Route] = &[VERSION];
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
const AUTHORITY: &[u8] = include_bytes!("tls/ca.pem");

/// Answers one request after another; ends when the process does.
fn server() -> ClientOptions {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server-key.pem")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a server");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("https://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
            let mut stream = BufReader::new(StreamOwned::new(session, stream));
            // A client that does not trust this server ends here.
            let whole = stream.by_ref().lines().map_while(Result::ok).any(|line| line.is_empty());
            let mut stream = stream.into_inner();
            if whole && stream.write_all(REPLY).is_ok() {
                stream.conn.send_close_notify();
                stream.flush().expect("an end");
            }
        }
    });
    reach(base.parse().expect("an address"), ROUTES)
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted() {
    let error = Client::new(server())
        .expect("a client")
        .send(&RouteRequest::new(&VERSION, [""; 0]))
        .await
        .expect_err("no trust");
    let want = "`127.0.0.1` cannot be reached: its certificate is not trusted (";
    assert!(error.to_string().starts_with(want), "{error}");
}

#[tokio::test]
async fn an_authority_of_the_operator_is_trusted() {
    let reach = ClientOptions { extra_ca_pem: Some(AUTHORITY.to_vec()), ..server() };
    let client = Client::new(reach).expect("a client");
    assert_eq!(client.send(&RouteRequest::new(&VERSION, [""; 0])).await.expect("an answer").body, b"{}");
}

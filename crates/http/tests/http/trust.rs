//! Which TLS certificates the client trusts: the system's, and the operator's CA.
//!
//! `tls/` holds a server certificate and key for loopback, and the CA certificate that signed it. The CA's key is not
//! kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use referee_http::{Client, ClientOptions, Route, RouteRequest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::client_options;

const VERSION: Route = Route::get("/version");
const ROUTES: &[Route] = &[VERSION];
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
const CA: &[u8] = include_bytes!("tls/ca.pem");

/// Starts a TLS server and returns the options to reach it. The server ends with the process.
fn start_server() -> ClientOptions {
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
            // A client that does not trust this server closes the connection here.
            let complete = stream.by_ref().lines().map_while(Result::ok).any(|line| line.is_empty());
            let mut stream = stream.into_inner();
            if complete && stream.write_all(REPLY).is_ok() {
                stream.conn.send_close_notify();
                stream.flush().expect("an end");
            }
        }
    });
    client_options(base.parse().expect("an address"), ROUTES)
}

#[tokio::test]
async fn a_certificate_of_an_unknown_ca_is_rejected() {
    let error = Client::new(start_server())
        .expect("a client")
        .send(&RouteRequest::new(&VERSION, [""; 0]))
        .await
        .expect_err("an untrusted certificate");
    let want = "`127.0.0.1` cannot be reached: its certificate is not trusted (";
    assert!(error.to_string().starts_with(want), "{error}");
}

#[tokio::test]
async fn a_certificate_of_the_operators_ca_is_trusted() {
    let options = ClientOptions { extra_ca_pem: Some(CA.to_vec()), ..start_server() };
    let client = Client::new(options).expect("a client");
    assert_eq!(client.send(&RouteRequest::new(&VERSION, [""; 0])).await.expect("a response").body, b"{}");
}

//! The HTTP adapter on a fake server.

use std::cell::OnceCell;
use std::time::Duration;

use referee_forge::{Identity, ServerFacts, ServerSite, Site, connect};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::contract::WorldSetup;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{BlockingForge, World, WorldClient, block_on};

/// Creates a contract setup whose clients go through the adapter and a fake server.
pub(crate) fn contract_setup(dialect: Dialect) -> WorldSetup<BlockingForge> {
    let probed = probe_server(dialect);
    let server = OnceCell::new();
    WorldSetup::new(dialect.quirks(), move |client| {
        forge(server.get_or_init(|| FakeServer::open(dialect, client.world())), &client, &probed)
    })
}

/// Opens the adapter with the tokens of a client, without any request.
pub(crate) fn forge(server: &FakeServer, client: &WorldClient, probed: &ServerFacts) -> BlockingForge {
    let probed = ServerFacts { login: client.login().clone(), ..probed.clone() };
    let opened = block_on(connect(&site(server, client, Some(probed)))).expect("opening sends no request");
    let others = client.held_logins().filter(|login| *login != client.login());
    let others = others.map(|login| Identity {
        login: Some(login.clone()),
        token: Some(Token::new(server.issue_token(client, login))),
    });
    let (forge, _) = block_on(opened.with_identities(others.collect())).expect("opening sends no request");
    BlockingForge::new(forge)
}

/// Lets the adapter probe a fake server of that dialect.
pub(crate) fn probe_server(dialect: Dialect) -> ServerFacts {
    let world = World::new(dialect.quirks());
    let server = FakeServer::open(dialect, &world);
    let site = site(&server, &world.client("referee"), None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
    let opened = runtime.block_on(connect(&site)).expect("the server is supported");
    opened.server_facts().expect("a server reports its facts")
}

/// Returns an address without rate limit and backoff.
fn site(server: &FakeServer, client: &WorldClient, probed: Option<ServerFacts>) -> Site {
    let base = reqwest::Url::parse(server.base_url()).expect("a valid URL");
    let mut options = ClientOptions::new(base, None, &[]);
    let (no_delay, unlimited) = (Duration::ZERO, 1_000_000);
    options.limits = ClientLimits {
        requests_per_minute: unlimited,
        burst: unlimited,
        initial_backoff: no_delay,
        max_backoff: no_delay,
        ..ClientLimits::default()
    };
    Site::Server(Box::new(ServerSite {
        kind: None,
        client: options,
        owner: "acme".to_owned(),
        repo: "api".to_owned(),
        token: Token::new(server.issue_token(client, client.login())),
        known: probed,
    }))
}

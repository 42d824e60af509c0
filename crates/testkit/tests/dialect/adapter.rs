//! The adapter for real servers, at a server that is none.

use std::cell::OnceCell;
use std::time::Duration;

use referee_forge::{Identity, ServerFacts, ServerSite, Site, connect};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::contract::WorldSetup;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{BlockingForge, World, WorldClient, block_on};

/// A stage whose seats are reached through the adapter and a server.
pub(crate) fn stage(dialect: Dialect) -> WorldSetup<BlockingForge> {
    let known = probed(dialect);
    let server = OnceCell::new();
    WorldSetup::new(dialect.quirks(), move |seat| {
        forge(server.get_or_init(|| FakeServer::open(dialect, seat.world())), &seat, &known)
    })
}

/// The adapter as a seat, with nothing asked yet.
pub(crate) fn forge(server: &FakeServer, seat: &WorldClient, known: &ServerFacts) -> BlockingForge {
    let known = ServerFacts { login: seat.login().clone(), ..known.clone() };
    let opened = block_on(connect(&site(server, seat, Some(known)))).expect("nothing is asked");
    let others = seat.held_logins().filter(|login| *login != seat.login());
    let others = others
        .map(|login| Identity { login: Some(login.clone()), token: Some(Token::new(server.issue_token(seat, login))) });
    let (forge, _) = block_on(opened.with_identities(others.collect())).expect("nothing is asked");
    BlockingForge::new(forge)
}

/// What the adapter finds out about such a server.
pub(crate) fn probed(dialect: Dialect) -> ServerFacts {
    let world = World::new(dialect.quirks());
    let server = FakeServer::open(dialect, &world);
    let site = site(&server, &world.client("referee"), None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let opened = runtime.block_on(connect(&site)).expect("the server is one that is known");
    opened.server_facts().expect("it is a server")
}

/// Nobody is spared here, and nobody waits.
fn site(server: &FakeServer, seat: &WorldClient, known: Option<ServerFacts>) -> Site {
    let base = reqwest::Url::parse(server.base_url()).expect("an address");
    let mut client = ClientOptions::new(base, None, &[]);
    let (none, many) = (Duration::ZERO, 1_000_000);
    client.limits = ClientLimits {
        requests_per_minute: many,
        burst: many,
        initial_backoff: none,
        max_backoff: none,
        ..ClientLimits::default()
    };
    Site::Server(Box::new(ServerSite {
        kind: None,
        client,
        owner: "acme".to_owned(),
        repo: "api".to_owned(),
        token: Token::new(server.issue_token(seat, seat.login())),
        named: true,
        known,
    }))
}

//! The adapter for real servers, at a server that is none.

use std::cell::OnceCell;
use std::time::Duration;

use referee_forge::{GiteaForge, ProbedServer, RepoAddress};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::contract::WorldSetup;
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{BlockingForge, World, WorldClient, block_on};

/// The adapter, prompt.
pub(crate) type Adapter = BlockingForge<GiteaForge>;

/// A stage whose seats are reached through the adapter and a server.
pub(crate) fn stage(dialect: Dialect) -> WorldSetup<Adapter> {
    let known = probed(dialect);
    let server = OnceCell::new();
    WorldSetup::new(dialect.quirks(), move |seat| {
        forge(server.get_or_init(|| FakeServer::open(dialect, seat.world())), &seat, &known)
    })
}

/// The adapter as a seat, with nothing asked yet.
pub(crate) fn forge(server: &FakeServer, seat: &WorldClient, known: &ProbedServer) -> Adapter {
    let names = [seat.login()].into_iter().chain(seat.held_logins().filter(|login| *login != seat.login()));
    let identities: Vec<_> =
        names.map(|login| (Some(login.clone()), Token::new(server.issue_token(seat, login)))).collect();
    let logins = identities.iter().filter_map(|(login, _)| login.clone()).collect();
    let known = ProbedServer { logins, ..known.clone() };
    BlockingForge::new(block_on(GiteaForge::open(&address(server), identities, Some(known))).expect("nothing is asked"))
}

/// What the adapter finds out about such a server.
pub(crate) fn probed(dialect: Dialect) -> ProbedServer {
    let world = World::new(dialect.quirks());
    let server = FakeServer::open(dialect, &world);
    let seat = world.client("referee");
    let identities = vec![(None, Token::new(server.issue_token(&seat, seat.login())))];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let opened = runtime.block_on(GiteaForge::open(&address(&server), identities, None));
    opened.expect("the server is one that is known").probed_server()
}

/// Nobody is spared here, and nobody waits.
fn address(server: &FakeServer) -> RepoAddress {
    let base = reqwest::Url::parse(server.base_url()).expect("an address");
    let mut reach = ClientOptions::new(base, None, &[]);
    let (none, many) = (Duration::ZERO, 1_000_000);
    reach.limits = ClientLimits {
        requests_per_minute: many,
        burst: many,
        initial_backoff: none,
        max_backoff: none,
        ..ClientLimits::default()
    };
    RepoAddress { client_options: reach, owner: "acme".to_owned(), repo: "api".to_owned() }
}

//! The adapter for real servers, at a server that is none.

use std::cell::OnceCell;
use std::time::Duration;

use referee_forge::{Address, GiteaForge, Known};
use referee_http::{Limits, Reach, Token};
use referee_testkit::contract::OnWorld;
use referee_testkit::dialect::{Dialect, Server};
use referee_testkit::{Seat, Waited, World, block_on};

/// The adapter, prompt.
pub(crate) type Adapter = Waited<GiteaForge>;

/// A stage whose seats are reached through the adapter and a server.
pub(crate) fn stage(dialect: Dialect) -> OnWorld<Adapter> {
    let known = probed(dialect);
    let server = OnceCell::new();
    OnWorld::new(dialect.quirks(), move |seat| {
        forge(server.get_or_init(|| Server::open(dialect, seat.world())), &seat, &known)
    })
}

/// The adapter as a seat, with nothing asked yet.
pub(crate) fn forge(server: &Server, seat: &Seat, known: &Known) -> Adapter {
    let names = [seat.login()].into_iter().chain(seat.held().filter(|login| *login != seat.login()));
    let identities: Vec<_> = names.map(|login| (Some(login.clone()), Token::new(server.token(seat, login)))).collect();
    let logins = identities.iter().filter_map(|(login, _)| login.clone()).collect();
    let known = Known { logins, ..known.clone() };
    Waited::new(block_on(GiteaForge::open(&address(server), identities, Some(known))).expect("nothing is asked"))
}

/// What the adapter finds out about such a server.
pub(crate) fn probed(dialect: Dialect) -> Known {
    let world = World::new(dialect.quirks());
    let server = Server::open(dialect, &world);
    let seat = world.seat("referee");
    let identities = vec![(None, Token::new(server.token(&seat, seat.login())))];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let opened = runtime.block_on(GiteaForge::open(&address(&server), identities, None));
    opened.expect("the server is one that is known").known()
}

/// Nobody is spared here, and nobody waits.
fn address(server: &Server) -> Address {
    let base = reqwest::Url::parse(server.base()).expect("an address");
    let mut reach = Reach::new(base, None, &[]);
    let (none, many) = (Duration::ZERO, 1_000_000);
    reach.limits = Limits { per_minute: many, burst: many, first_wait: none, longest_wait: none, ..Limits::default() };
    Address { reach, owner: "acme".to_owned(), repo: "api".to_owned() }
}

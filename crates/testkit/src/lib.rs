//! A forge in memory, the hands of people, and the suites that every forge must pass.
//!
//! Nothing here is random, nothing sleeps and nothing touches the network: a play is a function of its script. Real
//! servers are another matter; `proxy` stands in front of them.
//! Nothing here is random, nothing sleeps and nothing touches the network: a play is a function of its script. Only
//! `server` is different: it runs real servers on loopback, for suites that ask for them.

pub mod contract;
pub mod hand;
pub mod play;
mod poll;
pub mod proxy;
pub mod scenario;
pub mod server;
mod source;
pub mod world;

pub use hand::{Hand, Person};
pub use poll::{block_on, interleave};
pub use world::{At, Effect, Fault, Quirks, Replies, Seat, Sent, What, World};

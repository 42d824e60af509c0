//! A forge in memory, the hands of people, and the suites that every forge must pass.
//!
//! Nothing here is random, nothing sleeps and nothing leaves this machine: a play is a function of its script. Only
//! `server` is different: it runs real servers on loopback, for suites that ask for them; `proxy` stands in front.

pub mod contract;
pub mod dialect;
pub mod hand;
pub mod play;
mod poll;
pub mod proxy;
pub mod scenario;
pub mod server;
mod source;
mod waited;
pub mod world;

pub use hand::{Hand, Person};
pub use poll::{block_on, interleave};
pub use waited::Waited;
pub use world::{At, BadLines, Effect, Fault, Quirks, Replies, Seat, Sent, What, World};

//! A forge in memory, the hands of people, and the suites that every forge must pass.
//!
//! Nothing here is random, nothing sleeps and nothing leaves this machine: a play is a function of its script. Only
//! `server` is different: it runs real servers on loopback, for suites that ask for them; `proxy` stands in front.

mod blocking;
pub mod contract;
pub mod dialect;
pub mod person;
mod poll;
pub mod proxy;
pub mod scenario;
pub mod server;
pub mod simulation;
mod source;
pub mod world;

pub use blocking::BlockingForge;
pub use person::{WorldPeople, WorldPerson};
pub use poll::{block_on, interleave};
pub use world::{BadLines, CallFault, Effect, EffectKind, FaultAt, Quirks, ReplyMode, SentPart, World, WorldClient};

//! Test support: an in-memory forge, scripted people, and the contract suite that every forge adapter must pass.
//!
//! Everything is deterministic: no randomness, no sleeps, no network. The exceptions are `server`, which runs real
//! Gitea and Forgejo servers on loopback for the suites that ask for them, and `proxy`, which injects faults into their
//! traffic.

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

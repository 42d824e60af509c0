//! The fake servers respond as recorded from real servers, and the HTTP adapter keeps the contract on them.

mod adapter;
mod attack;
mod contract;
mod dispatch;
mod quirks;
mod raw_client;
mod recorded;
mod simulation;

//! The client against a scripted server on loopback.

mod allow_list;
mod connection;
mod retry;
mod server;
mod trust;

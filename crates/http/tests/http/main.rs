//! The client against a server that answers as it is told.

mod again;
mod allowed;
mod server;
mod trust;
mod ways;

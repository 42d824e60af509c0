//! The docs, tried out: what they say one types is typed, in a small repository made for it.

mod commands;
mod dispatch;
mod forges;
mod pages;
mod picture;
mod probes;
mod sandbox;

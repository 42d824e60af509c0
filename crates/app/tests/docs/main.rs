//! Tests of the docs: their commands run in a small repository and print what the docs show.

mod commands;
mod dispatch;
mod forges;
mod pages;
mod picture;
mod probes;
mod sandbox;

//! Real servers: the actions of test people work, the known quirks still exist, and the adapter keeps the contract.

mod concurrent_posts;
mod contract;
mod inspect;
mod people;
mod quirks;
mod setup;

/// Defines each test once per server.
macro_rules! on_each_server {
    ($($test:ident)+) => {
        mod gitea_1_26 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea126); })+ }
        mod gitea_1_27 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea127); })+ }
        mod forgejo_10 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Forgejo10); })+ }
    };
}
use on_each_server;

/// A file of three lines that a pull adds.
const FILE: &str = "src/a.rs";
const LINES: &str = "fn one() {}\nfn two() {}\nfn three() {}\n";

//! Real servers: what people do there works, what surprises there is still so, and the adapter keeps the contract.

mod contract;
mod crossing;
mod hands;
mod inspect;
mod stage;
mod surprises;

/// A test of each name on each server.
macro_rules! on_each_server {
    ($($test:ident)+) => {
        mod gitea_1_26 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea126); })+ }
        mod gitea_1_27 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea127); })+ }
        mod forgejo_10 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Forgejo10); })+ }
    };
}
use on_each_server;

/// A file of three lines that a pull brings.
const FILE: &str = "src/a.rs";
const LINES: &str = "fn one() {}\nfn two() {}\nfn three() {}\n";

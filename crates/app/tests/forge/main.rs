//! The whole loop through the program, on real servers.

mod acceptance;
mod accounted;
mod again;
mod big;
mod bulk;
mod calls;
mod chance;
mod course;
mod dispatch;
mod doubles;
mod faults;
mod first;
mod guards;
mod hostile;
mod kills;
mod late;
mod many;
mod matrix;
mod others;
mod people;
mod pull_view;
mod refusals;
mod reviewer;
mod run;
mod safety;
mod site;
mod standing;
mod surprises;
mod test_pull;
mod threads;
mod token_host;
mod whole;

/// A test of each name on each server.
macro_rules! on_each_server {
    ($($test:ident)+) => {
        mod gitea_1_26 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea126); })+ }
        mod gitea_1_27 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Gitea127); })+ }
        mod forgejo_10 { $(#[test] fn $test() { super::$test(referee_testkit::server::ServerBuild::Forgejo10); })+ }
    };
}
use on_each_server;

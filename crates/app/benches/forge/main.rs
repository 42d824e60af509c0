//! Compares the requests of referee with those of reviewdog for the same findings on a real Gitea, counted by a proxy.
//!
//! ```text
//! cargo bench -p referee --features servers --bench forge
//! REFEREE_PULLS=20 cargo bench -p referee --features servers --bench forge
//! ```

#[path = "../../tests/forge/course.rs"]
mod course;
#[path = "../../tests/forge/many.rs"]
mod many;
mod named;
mod reviewdog;
#[path = "../../tests/forge/site.rs"]
#[expect(dead_code, reason = "the suites run more commands")]
mod site;

use std::fmt::Write as _;

use course::{Course, Spent};
use many::Many;
use referee_testkit::server::ServerBuild;
use reviewdog::Reviewdog;

/// Files of the change, and findings in each.
const FILES: usize = 5;
const EACH: usize = 3;
/// Open pulls of the sweep, unless `REFEREE_PULLS` says otherwise.
const PULLS: usize = 200;

fn main() {
    let reviewdog = Reviewdog::install();
    let mut table = "| | referee: reads + writes | opened / deleted / lost | reviewdog: reads + writes | opened / deleted / lost |\n\
                     |---|---:|---:|---:|---:|\n"
        .to_owned();
    let (mut own, mut other) =
        (Course::new(ServerBuild::Gitea126, FILES, EACH), Course::new(ServerBuild::Gitea126, FILES, EACH));
    let first = own.referee();
    row(&mut table, "first review", &first, &reviewdog.review(&other));
    let unchanged = reviewdog.review(&other);
    own.site.forget();
    row(&mut table, "unchanged, cold cache", &own.referee(), &unchanged);
    row(&mut table, "unchanged, warm cache", &own.referee(), &unchanged);
    own.answer();
    other.answer();
    own.move_lines();
    other.move_lines();
    row(&mut table, "a push that moves every commented line", &own.referee(), &reviewdog.review(&other));
    own.rename();
    other.rename();
    row(&mut table, "a push that renames a file", &own.referee(), &reviewdog.review(&other));
    let beside = Course::without_config(ServerBuild::Gitea126, FILES, EACH).referee();
    say(&format!("The first review of a role beside the built-in one: {} + {}.\n", beside.reads(), beside.writes()));
    let reviews = own.open_reviews();
    say(&format!("{table}\nReviews with open threads at the end: {reviews}.\n"));
    say(&named::table(&first.log));
    say(&sweep());
}

fn row(table: &mut String, what: &str, own: &Spent, other: &Spent) {
    let _ = writeln!(table, "| {what} | {} | {} |", cells(own), cells(other));
}

fn cells(spent: &Spent) -> String {
    let Spent { opened, deleted, lost, .. } = spent;
    format!("{} + {} | {opened} / {deleted} / {lost}", spent.reads(), spent.writes())
}

fn sweep() -> String {
    let count = std::env::var("REFEREE_PULLS").ok().and_then(|count| count.parse().ok()).unwrap_or(PULLS);
    let many = Many::new(ServerBuild::Gitea126, count);
    let mut table = "| | list pages | other requests |\n|---|---:|---:|\n".to_owned();
    let mut row = |what: &str| {
        let (pages, others) = many.asked();
        let _ = writeln!(table, "| {what} | {pages} | {others} |");
    };
    many.sweep();
    row("first sweep");
    let second = many.sweep();
    row("second, unchanged");
    let happened = many.happens();
    let third = many.sweep();
    row("third, changes on four pulls");
    let noticed: Vec<&str> = happened.iter().filter(|(pull, _)| third[pull] != second[pull]).map(|it| *it.1).collect();
    let unmoved = third.iter().filter(|(pull, fetched)| **fetched == second[pull]).count();
    let (pulls, threads) = (many.pulls.len(), many.threads.len());
    format!(
        "{pulls} open pulls, {threads} reviews with open threads.\n\n{table}\nNoticed: {}; {unmoved} pulls as before.\n",
        noticed.join(", ")
    )
}

#[expect(clippy::print_stdout, reason = "a bench prints its tables")]
fn say(text: &str) {
    println!("{text}");
}

//! The number of requests, counted by a proxy. `cargo bench -p referee --features servers --bench forge` measures larger
//! cases.

use referee_testkit::server::ServerBuild;

use crate::course::{Course, Spent};
use crate::many::Many;
use crate::on_each_server;

on_each_server! { a_first_review_sends_few_requests a_loop_sends_few_requests_and_threads_survive_pushes a_sweep_sends_few_requests_and_misses_nothing }

/// Both take the claim and read everything again under it (D42). The second case is the README's example: a report of a role
/// that the config does not name, beside the built-in one.
fn a_first_review_sends_few_requests(build: ServerBuild) {
    for course in [Course::new(build, 2, 2), Course::without_config(build, 2, 2)] {
        let first = course.referee();
        assert!(first.reads() <= 12 && first.writes() <= 4, "{:#?}", first.log);
    }
}

// spec: PUB-2 @gitea @forgejo
// spec: PUB-3 @gitea @forgejo
// spec: INC-9 @gitea @forgejo
fn a_loop_sends_few_requests_and_threads_survive_pushes(build: ServerBuild) {
    let mut course = Course::new(build, 2, 2);
    let first = course.referee();
    assert_eq!((first.opened, first.deleted), (4, 0), "{:?}", first.log);

    course.site.forget();
    let cold = course.referee();
    assert_eq!(cold.writes(), 0, "{:?}", cold.log);
    assert!(cold.reads() <= 8 + course.open_reviews(), "{:?}", cold.log);

    let warm = course.referee();
    assert_eq!(warm.writes(), 0, "{:?}", warm.log);
    assert!(warm.reads() <= 3 + course.open_reviews(), "{:?}", warm.log);

    course.answer();
    course.move_lines();
    stays(&course.referee());
    course.rename();
    stays(&course.referee());
}

/// Nothing was deleted, opened again or lost, and at most the summary and the status were written.
#[track_caller]
fn stays(spent: &Spent) {
    assert_eq!((spent.opened, spent.deleted, spent.lost), (0, 0, 0), "{:?}", spent.log);
    assert!(spent.writes() <= 2, "{:?}", spent.log);
}

fn a_sweep_sends_few_requests_and_misses_nothing(build: ServerBuild) {
    let many = Many::new(build, 11);
    let first = many.sweep();
    assert_eq!(first.len(), 11);
    // Reviews, timeline and checks of each, the comments of each review that has some, and once who can be assigned.
    let (pages, others) = many.asked();
    assert_eq!((pages, others), (1, 3 * 11 + many.threads.len() + 1), "{:?}", many.site.proxy.log());
    assert!(many.sweep() == first, "nothing happened");
    let (pages, others) = many.asked();
    assert_eq!((pages, others), (1, 2 * 11 + many.threads.len()), "{:?}", many.site.proxy.log());

    let happened = many.happens();
    let third = many.sweep();
    for (pull, fetched) in &third {
        assert_eq!(*fetched != first[pull], happened.contains_key(pull), "{pull}: {:?}", happened.get(pull));
    }
}

//! Scripted claims.

use std::time::Duration;

use referee_core::model::{PullNumber, Span};
use serde_json::{Value, json};

use crate::gitea::scripted_server::{ScriptedAnswer, ScriptedServer};
use crate::{ClaimOutcome, ClaimPurpose, Forge, ForgeError};

const LOOK: &str = "GET /issues/7/reactions";
const PUT: &str = "POST /issues/7/reactions";
const TAKE_AWAY: &str = "DELETE /issues/7/reactions"; // delete: own reaction

#[tokio::test]
async fn every_row_of_the_claim_table_is_decided() {
    let (fresh, same) = (("09:59:58", "eyes"), ("09:59:58", "heart"));
    let (held, stale, old) = (("09:59:00", "heart"), ("09:00:00", "eyes"), ("09:00:00", "hooray"));
    let epoch = 1_794_736_798;
    // `None` is held.
    let cases: [(&str, Vec<ScriptedAnswer>, Option<u64>); 12] = [
        ("free", vec![reaction_added(), reactions_listed(&[fresh])], Some(epoch)),
        ("held", vec![reaction_found(), reactions_listed(&[fresh])], None),
        (
            "held by another reaction",
            vec![reaction_added(), reactions_listed(&[fresh, held]), (TAKE_AWAY, 204, Value::Null)],
            None,
        ),
        (
            "expired, and taken over",
            vec![
                reaction_found(),
                reactions_listed(&[stale]),
                reaction_added(),
                reactions_listed(&[stale, same]),
                (TAKE_AWAY, 204, Value::Null),
            ],
            Some(epoch),
        ),
        ("expired, and another was faster", vec![reaction_found(), reactions_listed(&[stale]), reaction_found()], None),
        (
            "another reaction expired",
            vec![reaction_added(), reactions_listed(&[old, fresh]), (TAKE_AWAY, 204, Value::Null)],
            Some(epoch),
        ),
        (
            "a rival in the same second",
            vec![reaction_added(), reactions_listed(&[fresh, same]), (TAKE_AWAY, 204, Value::Null)],
            None,
        ),
        ("a younger rival", vec![reaction_added(), reactions_listed(&[fresh, ("09:59:59", "heart")])], Some(epoch)),
        ("taken away by a holder whose time is over", vec![reaction_added(), reactions_listed(&[])], None),
        (
            "all words are there",
            vec![
                reaction_found(),
                reactions_listed(&[("09:00:01", "eyes"), ("09:00:02", "heart"), old]),
                (TAKE_AWAY, 204, Value::Null),
            ],
            None,
        ),
        ("the answer is lost", vec![(PUT, 502, Value::Null), reactions_listed(&[fresh])], None),
        (
            "the request is lost",
            vec![(PUT, 502, Value::Null), reactions_listed(&[]), reaction_added(), reactions_listed(&[fresh])],
            Some(epoch),
        ),
    ];
    for (case, lines, expected) in cases {
        let server = ScriptedServer::new(lines).await;
        let claimed = server.forge.acquire_claim(PullNumber(7), ClaimPurpose::Publish, Span(120)).await;
        let claimed = claimed.map(|outcome| match outcome {
            ClaimOutcome::Acquired(epoch) => Some(epoch),
            ClaimOutcome::HeldElsewhere(_) => None,
        });
        assert_eq!(claimed, Ok(expected), "{case}");
        server.finished_requests();
    }
}

#[tokio::test]
async fn only_a_claim_of_this_process_is_released() {
    let mine = ("09:59:58", "heart");
    let given = ScriptedServer::new([reactions_listed(&[mine]), (TAKE_AWAY, 200, Value::Null)]).await;
    assert_eq!(given.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1_794_736_798).await, Ok(()));
    assert_eq!(given.sent_bodies(TAKE_AWAY), [json!({ "content": "heart" })]);
    let newer = ScriptedServer::new([reactions_listed(&[mine])]).await;
    let refused = newer.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1_794_736_000).await;
    assert_eq!(refused, Err(ForgeError::Conflict("the claim".to_owned())));
    let gone = ScriptedServer::new([reactions_listed(&[])]).await;
    let refused = gone.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1).await;
    assert_eq!(refused, Err(ForgeError::Conflict("the claim".to_owned())));
}

#[tokio::test]
async fn a_claim_just_taken_is_released_without_another_read() {
    let lines = [reaction_added(), reactions_listed(&[("09:59:58", "eyes")])];
    let server = ScriptedServer::new(lines.into_iter().chain([(TAKE_AWAY, 204, Value::Null)])).await;
    let claimed = server.forge.acquire_claim(PullNumber(7), ClaimPurpose::Publish, Span(120)).await;
    let Ok(ClaimOutcome::Acquired(epoch)) = claimed else { panic!("{claimed:?}") };
    assert_eq!(server.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, epoch).await, Ok(()));
    assert_eq!(server.sent_bodies(TAKE_AWAY), [json!({ "content": "eyes" })]);
}

#[tokio::test]
async fn a_claim_is_renewed_while_a_write_takes_longer_than_its_time() {
    let renewal = |old: &'static str, new: &'static str| {
        [reaction_added(), reactions_listed(&[("09:59:58", old), ("09:59:59", new)]), (TAKE_AWAY, 204, Value::Null)]
    };
    let taken = [reaction_added(), reactions_listed(&[("09:59:58", "eyes")])].into_iter();
    let script = taken.chain(renewal("eyes", "heart")).chain(renewal("heart", "hooray"));
    let server = ScriptedServer::new(script.chain([(TAKE_AWAY, 204, Value::Null)])).await;
    let claimed = server.forge.acquire_claim(PullNumber(7), ClaimPurpose::Publish, Span(30)).await;
    let Ok(ClaimOutcome::Acquired(epoch)) = claimed else { panic!("{claimed:?}") };
    let write = async {
        // The write outlives the 30 s of the claim. Each half of them brings a renewal of three requests.
        for requests in [5, 8] {
            pass_time(Duration::from_secs(15)).await;
            wait_for_requests(&server, requests).await;
        }
        "written"
    };
    assert_eq!(server.forge.keep_claim_during(PullNumber(7), write).await, "written");
    assert_eq!(server.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, epoch).await, Ok(()));
    let words = ["eyes", "heart", "hooray"].map(|word| json!({ "content": word }));
    assert_eq!(server.sent_bodies(PUT), words, "each renewal adds the next reaction");
    assert_eq!(server.sent_bodies(TAKE_AWAY), words, "and removes the one before");
}

/// Moves the clock of this runtime. Nothing waits.
async fn pass_time(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

async fn wait_for_requests(server: &ScriptedServer, count: usize) {
    for _ in 0..1_000_000 {
        if server.request_count() >= count {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{} of {count} requests arrived", server.request_count());
}

fn reaction_added() -> ScriptedAnswer {
    (PUT, 201, json!({}))
}

fn reaction_found() -> ScriptedAnswer {
    (PUT, 200, json!({}))
}

/// Reactions of this identity, and one of another user, which must be ignored.
fn reactions_listed(held: &[(&str, &str)]) -> ScriptedAnswer {
    let reaction = |who: &str, at: &str, word: &str| json!({ "user": { "login": who }, "content": word, "created_at": format!("2026-11-15T{at}Z") });
    let theirs = reaction("ruth", "09:59:59", "eyes");
    let own = held.iter().map(|(at, word)| reaction("bot", at, word));
    (LOOK, 200, own.chain([theirs]).collect())
}

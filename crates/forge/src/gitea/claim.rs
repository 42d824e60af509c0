//! Claims: a reaction of the own identity on the pull (D8). The server keeps each word once a user and says whether this
//! request put it there: 201, mine; 200, somebody of this identity holds it.
//!
//! Its time is counted from the reaction's own `created_at`, by the server's clock; that second is its epoch. A purpose
//! has several words, since a word that is there cannot be put there once more: whoever takes over an expired claim puts
//! the next one and takes the old one away afterwards. What can come between:
//!
//! | two at once | ends as |
//! |---|---|
//! | both find nothing | the same word: one 201, one 200 |
//! | both find the same expired word | the same next word: one 201, one 200 |
//! | one finds an expired word and stalls; meanwhile it is taken over, given back, and taken anew | different words: both 201. Each looks again after its 201 and gives its own back unless it is strictly older, so at most one stays; of two in one second none, and both come back |
//! | a take-over dies before it takes the old word away | both expire, a third word is put and both go |
//! | all words are there and expired | one is taken away, and the claim is held until the next try |
//! | given back in the second it was taken | waits for the next second, so that no later claim has the same epoch |
//! | the reply to the reaction is lost | held: if it is there, it runs out |
//! | a holder whose time is over stalls between looking and giving back | may take the word of a newer claim away: the server cannot compare. That is why nothing may depend on a claim alone (D6) |

use std::time::Duration;

use referee_core::model::{PullNumber, Span, Time};
use serde::Deserialize;
use serde_json::json;

use super::hand::{Hand, clock, understand};
use super::wire::{self, User};
use super::{GiteaForge, routes};
use crate::{Claimed, ForgeError, Purpose};

/// The words of a purpose. Every server takes these unless its operator said otherwise; none of them says that somebody
/// dislikes the pull.
fn words(purpose: Purpose) -> &'static [&'static str] {
    match purpose {
        Purpose::Publish => &["eyes", "heart", "hooray"],
        Purpose::Work => &["rocket", "laugh", "+1"],
    }
}

impl GiteaForge {
    pub(super) async fn take_claim(
        &self,
        pull: PullNumber,
        purpose: Purpose,
        ttl: Span,
    ) -> Result<Claimed, ForgeError> {
        let desk = Desk { forge: self, hand: self.reader()?, pull, words: words(purpose) };
        let seen = desk.look().await?;
        if seen.held.iter().any(|held| held.lives(seen.now, ttl)) {
            return Ok(Claimed::Held);
        }
        let Some(word) = desk.next(&seen.held) else {
            let oldest = seen.held.iter().min_by_key(|held| held.since).map(|held| held.word);
            desk.take_away(oldest.unwrap_or_default()).await?;
            return Ok(Claimed::Held);
        };
        if !desk.put(word).await? {
            return Ok(Claimed::Held);
        }
        let seen = desk.look().await?;
        let Some(mine) = seen.held.iter().find(|held| held.word == word) else { return Ok(Claimed::Held) };
        let (living, expired): (Vec<&Held>, Vec<&Held>) =
            seen.held.iter().filter(|held| held.word != word).partition(|held| held.lives(seen.now, ttl));
        if living.iter().any(|rival| rival.since <= mine.since) {
            desk.take_away(word).await?;
            return Ok(Claimed::Held);
        }
        for old in expired {
            // The claim stands all the same; the next one tries again.
            let _ = desk.take_away(old.word).await;
        }
        Ok(Claimed::Mine(mine.epoch()))
    }

    pub(super) async fn give_back(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        let desk = Desk { forge: self, hand: self.reader()?, pull, words: words(purpose) };
        let seen = desk.look().await?;
        match seen.held.iter().find(|held| held.epoch() == epoch) {
            Some(mine) => {
                if seen.now <= mine.since {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                desk.take_away(mine.word).await
            }
            None if seen.held.is_empty() => Ok(()),
            None => Err(ForgeError::Moved("the claim".to_owned())),
        }
    }
}

/// Where the claims of one purpose on one pull are kept.
struct Desk<'a> {
    forge: &'a GiteaForge,
    hand: &'a Hand,
    pull: PullNumber,
    words: &'static [&'static str],
}

/// The own words on the pull, by the server's clock.
struct Seen {
    now: Time,
    held: Vec<Held>,
}

struct Held {
    word: &'static str,
    since: Time,
}

/// A reaction, as the server tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reaction {
    user: Option<User>,
    content: String,
    created_at: String,
}

impl Held {
    fn lives(&self, now: Time, ttl: Span) -> bool {
        now < self.since.after(ttl)
    }

    fn epoch(&self) -> u64 {
        u64::try_from(self.since.0).unwrap_or_default()
    }
}

impl Desk<'_> {
    async fn look(&self) -> Result<Seen, ForgeError> {
        let what = format!("the reactions on {}", self.pull);
        let call = self.forge.call(&routes::REACTIONS, [&self.pull.0]);
        let answer = self.hand.ask(&call.clone().with("page", 1).with("limit", 50), &what).await?;
        let mut reactions: Vec<Reaction> = understand(&answer, &what)?;
        if answer.header("x-total-count").is_some_and(|total| total != reactions.len().to_string()) {
            reactions = self.hand.pages(&call, &what, |page: Vec<Reaction>| page).await?.items;
        }
        let own =
            |reaction: &Reaction| wire::login(reaction.user.as_ref()).is_some_and(|login| login == self.hand.login);
        let held = |reaction: &Reaction| {
            let word = self.words.iter().find(|word| **word == reaction.content)?;
            own(reaction).then(|| Held { word, since: wire::time(&reaction.created_at) })
        };
        Ok(Seen { now: clock(&answer), held: reactions.iter().filter_map(held).collect() })
    }

    /// The word that follows the newest one and is not there.
    fn next(&self, held: &[Held]) -> Option<&'static str> {
        let newest = held.iter().max_by_key(|held| held.since).map(|held| held.word);
        let after = newest.and_then(|newest| self.words.iter().position(|word| *word == newest)).map_or(0, |at| at + 1);
        let ring = self.words.iter().cycle().skip(after).take(self.words.len());
        ring.copied().find(|word| !held.iter().any(|held| held.word == *word))
    }

    /// Puts a word there, and says whether it was not there before.
    async fn put(&self, word: &str) -> Result<bool, ForgeError> {
        let call = self.forge.call(&routes::REACT, [&self.pull.0]).sending(json!({ "content": word }));
        match self.hand.ask(&call, &format!("a claim on {}", self.pull)).await {
            Ok(answer) => Ok(answer.status == 201),
            Err(ForgeError::Unknown) => Ok(false),
            // An operator may allow other words than these.
            Err(ForgeError::Forbidden(_)) => Err(ForgeError::Unsupported("keep a claim".to_owned())),
            Err(error) => Err(error),
        }
    }

    async fn take_away(&self, word: &str) -> Result<(), ForgeError> {
        // delete: own reaction
        let call = self.forge.call(&routes::UNREACT, [&self.pull.0]).sending(json!({ "content": word }));
        self.hand.ask(&call, &format!("a claim on {}", self.pull)).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use referee_core::model::{PullNumber, Span};
    use serde_json::{Value, json};

    use crate::gitea::script::{Line, Scripted};
    use crate::{Claimed, Forge, ForgeError, Purpose};

    const LOOK: &str = "GET /issues/7/reactions";
    const PUT: &str = "POST /issues/7/reactions";
    const TAKE_AWAY: &str = "DELETE /issues/7/reactions"; // delete: own reaction

    #[tokio::test]
    async fn a_claim_ends_as_the_table_says() {
        let (fresh, same, old) = (("09:59:58", "eyes"), ("09:59:58", "heart"), ("09:00:00", "hooray"));
        let epoch = 1_794_736_798;
        let cases: [(&str, Vec<Line>, Claimed); 9] = [
            ("free", vec![(LOOK, 200, Value::Null), won(), look(&[fresh])], Claimed::Mine(epoch)),
            ("held", vec![look(&[fresh])], Claimed::Held),
            ("another was faster", vec![look(&[]), (PUT, 200, json!({}))], Claimed::Held),
            (
                "expired, and taken over",
                vec![look(&[old]), won(), look(&[old, fresh]), (TAKE_AWAY, 204, Value::Null)],
                Claimed::Mine(epoch),
            ),
            (
                "a rival in the same second",
                vec![look(&[]), won(), look(&[fresh, same]), (TAKE_AWAY, 204, Value::Null)],
                Claimed::Held,
            ),
            ("a younger rival", vec![look(&[]), won(), look(&[fresh, ("09:59:59", "heart")])], Claimed::Mine(epoch)),
            ("taken away by a holder whose time is over", vec![look(&[]), won(), look(&[])], Claimed::Held),
            (
                "all words are there",
                vec![look(&[("09:00:01", "eyes"), ("09:00:02", "heart"), old]), (TAKE_AWAY, 204, Value::Null)],
                Claimed::Held,
            ),
            ("the answer is lost", vec![look(&[]), (PUT, 502, Value::Null)], Claimed::Held),
        ];
        for (case, lines, expected) in cases {
            let server = Scripted::new(lines).await;
            let claimed = server.forge.claim(PullNumber(7), Purpose::Publish, Span(120)).await;
            assert_eq!(claimed, Ok(expected), "{case}");
            server.asked();
        }
    }

    #[tokio::test]
    async fn only_the_own_claim_is_given_back() {
        let mine = ("09:59:58", "heart");
        let given = Scripted::new([look(&[mine]), (TAKE_AWAY, 200, Value::Null)]).await;
        assert_eq!(given.forge.release(PullNumber(7), Purpose::Publish, 1_794_736_798).await, Ok(()));
        assert_eq!(given.sent(TAKE_AWAY), [json!({ "content": "heart" })]);
        let newer = Scripted::new([look(&[mine])]).await;
        let refused = newer.forge.release(PullNumber(7), Purpose::Publish, 1_794_736_000).await;
        assert_eq!(refused, Err(ForgeError::Moved("the claim".to_owned())));
        let gone = Scripted::new([look(&[])]).await;
        assert_eq!(gone.forge.release(PullNumber(7), Purpose::Publish, 1).await, Ok(()));
    }

    fn won() -> Line {
        (PUT, 201, json!({}))
    }

    /// The own words; somebody else's on the same pull are none of them.
    fn look(held: &[(&str, &str)]) -> Line {
        let reaction = |who: &str, at: &str, word: &str| json!({ "user": { "login": who }, "content": word, "created_at": format!("2026-11-15T{at}Z") });
        let theirs = reaction("ruth", "09:59:59", "eyes");
        let own = held.iter().map(|(at, word)| reaction("bot", at, word));
        (LOOK, 200, own.chain([theirs]).collect())
    }
}

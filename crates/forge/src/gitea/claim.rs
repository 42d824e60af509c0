//! Claims, kept as emoji reactions of referee's identity on the pull (D8). The server stores each reaction once per user
//! and tells whether a request added it (201) or found it (200): an atomic test-and-set.
//!
//! A claim expires by the server's clock, counted from the reaction's `created_at`; that second is the claim's epoch. Each
//! purpose has several reactions: a process that takes over an expired claim adds the next one, then removes the old one.
//!
//! | race or failure | result |
//! |---|---|
//! | two processes find no claim | both add the same reaction: one gets 201, the other 200 |
//! | the first reaction is free, but another one holds the claim | the first one is added, and withdrawn after reading |
//! | two processes find the same expired claim | both add the same next reaction: one gets 201, the other 200 |
//! | one finds an expired claim and stalls; meanwhile another takes it over, releases it and claims again | they add different reactions and both get 201. Each then reads again and withdraws unless it is strictly older, so at most one remains; in the same second neither does, and both retry |
//! | a take-over crashes before it removes the old reaction | both expire; the next claim adds a third one and removes both |
//! | all reactions are present and expired | one is removed, and the claim counts as held until the next attempt |
//! | a claim is released in the second it was taken | the release waits for the next second, so that no later claim has the same epoch |
//! | the response to the reaction is lost | the claim counts as held elsewhere; if it was added, it expires |
//! | a holder whose claim expired stalls between reading and removing | it may remove a newer claim's reaction, since the server cannot compare. Therefore nothing depends on a claim alone (D6) |

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use referee_core::model::{PullNumber, Span, Time};
use serde::Deserialize;
use serde_json::json;

use super::account::{GiteaAccount, parse_response, server_time};
use super::wire::{self, User};
use super::{GiteaForge, routes};
use crate::{ClaimOutcome, ClaimPurpose, ForgeError};

/// Returns the reactions of a purpose. Servers allow them by default, and none of them expresses a dislike.
fn claim_reactions(purpose: ClaimPurpose) -> &'static [&'static str] {
    match purpose {
        ClaimPurpose::Publish => &["eyes", "heart", "hooray"],
        ClaimPurpose::Work => &["rocket", "laugh", "+1"],
    }
}

impl GiteaForge {
    fn lock_taken_claims(&self) -> MutexGuard<'_, BTreeMap<(PullNumber, ClaimPurpose), TakenClaim>> {
        self.taken_claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn acquire_reaction_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        let claims = ReactionClaims {
            forge: self,
            account: self.reader_account()?,
            pull,
            reaction_names: claim_reactions(purpose),
        };
        let Some(word) = claims.add_free_reaction(ttl).await? else { return Ok(ClaimOutcome::HeldElsewhere) };
        let seen = claims.read_reactions().await?;
        let Some(mine) = seen.reactions.iter().find(|held| held.name == word) else {
            return Ok(ClaimOutcome::HeldElsewhere);
        };
        let (living, expired): (Vec<&HeldReaction>, Vec<&HeldReaction>) =
            seen.reactions.iter().filter(|held| held.name != word).partition(|held| held.is_active(seen.now, ttl));
        if living.iter().any(|rival| rival.since <= mine.since) {
            claims.remove_reaction(word).await?;
            return Ok(ClaimOutcome::HeldElsewhere);
        }
        for old in expired {
            // The claim is valid without this; the next claim removes it.
            let _ = claims.remove_reaction(old.name).await;
        }
        let taken = TakenClaim {
            name: word,
            epoch: mine.epoch(),
            at: Instant::now(),
            ttl,
            second_is_over: mine.since < seen.now,
        };
        self.lock_taken_claims().insert((pull, purpose), taken);
        Ok(ClaimOutcome::Acquired(mine.epoch()))
    }

    pub(super) async fn release_reaction_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        epoch: u64,
    ) -> Result<(), ForgeError> {
        let claims = ReactionClaims {
            forge: self,
            account: self.reader_account()?,
            pull,
            reaction_names: claim_reactions(purpose),
        };
        let taken = self.lock_taken_claims().remove(&(pull, purpose)).filter(|taken| taken.epoch == epoch);
        if let Some(taken) = taken.filter(TakenClaim::is_surely_held) {
            if !taken.second_is_over {
                tokio::time::sleep(Duration::from_secs(1).saturating_sub(taken.at.elapsed())).await;
            }
            return claims.remove_reaction(taken.name).await;
        }
        let seen = claims.read_reactions().await?;
        match seen.reactions.iter().find(|held| held.epoch() == epoch) {
            Some(mine) => {
                if seen.now <= mine.since {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                claims.remove_reaction(mine.name).await
            }
            None if seen.reactions.is_empty() => Ok(()),
            None => Err(ForgeError::Conflict("the claim".to_owned())),
        }
    }
}

/// Claims that this process took, by pull and purpose.
pub(super) type TakenClaims = Arc<Mutex<BTreeMap<(PullNumber, ClaimPurpose), TakenClaim>>>;

/// A claim that this process took.
#[derive(Debug)]
pub(super) struct TakenClaim {
    name: &'static str,
    epoch: u64,
    at: Instant,
    ttl: Span,
    /// The server's clock had left the second of the claim, which is its epoch, when the claim was taken.
    second_is_over: bool,
}

impl TakenClaim {
    /// Whether nobody can have taken the claim over yet, with half of its time as a margin for clocks: then it is removed
    /// without reading the reactions first.
    fn is_surely_held(&self) -> bool {
        let half = u64::try_from(self.ttl.0 / 2).unwrap_or_default();
        self.at.elapsed() < Duration::from_secs(half)
    }
}

/// Access to the claims of one purpose on one pull.
struct ReactionClaims<'a> {
    forge: &'a GiteaForge,
    account: &'a GiteaAccount,
    pull: PullNumber,
    reaction_names: &'static [&'static str],
}

/// The claim reactions of this identity, and the server's time when they were read.
struct ClaimReactions {
    now: Time,
    reactions: Vec<HeldReaction>,
}

struct HeldReaction {
    name: &'static str,
    since: Time,
}

/// A row of `GET /reactions`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReactionRow {
    user: Option<User>,
    content: String,
    created_at: String,
}

impl HeldReaction {
    fn is_active(&self, now: Time, ttl: Span) -> bool {
        now < self.since.saturating_add(ttl)
    }

    fn epoch(&self) -> u64 {
        u64::try_from(self.since.0).unwrap_or_default()
    }
}

impl ReactionClaims<'_> {
    async fn read_reactions(&self) -> Result<ClaimReactions, ForgeError> {
        let what = format!("the reactions on {}", self.pull);
        let call = self.forge.repo_request(&routes::REACTIONS, [&self.pull.0]);
        let answer = self.account.send(&call.clone().with_query("page", 1).with_query("limit", 50), &what).await?;
        let mut reactions: Vec<ReactionRow> = parse_response(&answer, &what)?;
        if answer.header("x-total-count").is_some_and(|total| total != reactions.len().to_string()) {
            reactions = self.account.read_pages(&call, &what, |page: Vec<ReactionRow>| page).await?.items;
        }
        let own = |reaction: &ReactionRow| {
            wire::login(reaction.user.as_ref()).is_some_and(|login| login == self.account.login)
        };
        let held = |reaction: &ReactionRow| {
            let word = self.reaction_names.iter().find(|word| **word == reaction.content)?;
            own(reaction).then(|| HeldReaction { name: word, since: wire::parse_time(&reaction.created_at) })
        };
        Ok(ClaimReactions { now: server_time(&answer), reactions: reactions.iter().filter_map(held).collect() })
    }

    /// Adds the first reaction, or the next one if that is present and all are expired; `None` if the claim is held.
    async fn add_free_reaction(&self, ttl: Span) -> Result<Option<&'static str>, ForgeError> {
        if let Some(first) = self.reaction_names.first()
            && self.add_reaction(first).await?
        {
            return Ok(Some(first));
        }
        let seen = self.read_reactions().await?;
        if seen.reactions.iter().any(|held| held.is_active(seen.now, ttl)) {
            return Ok(None);
        }
        let Some(word) = self.next_free_reaction(&seen.reactions) else {
            let oldest = seen.reactions.iter().min_by_key(|held| held.since).map(|held| held.name);
            self.remove_reaction(oldest.unwrap_or_default()).await?;
            return Ok(None);
        };
        Ok(self.add_reaction(word).await?.then_some(word))
    }

    /// Returns the reaction after the newest one that is not present yet.
    fn next_free_reaction(&self, held: &[HeldReaction]) -> Option<&'static str> {
        let newest = held.iter().max_by_key(|held| held.since).map(|held| held.name);
        let after = newest
            .and_then(|newest| self.reaction_names.iter().position(|word| *word == newest))
            .map_or(0, |at| at + 1);
        let ring = self.reaction_names.iter().cycle().skip(after).take(self.reaction_names.len());
        ring.copied().find(|word| !held.iter().any(|held| held.name == *word))
    }

    /// Adds a reaction; returns `false` if it was already present.
    async fn add_reaction(&self, word: &str) -> Result<bool, ForgeError> {
        let call = self.forge.repo_request(&routes::REACT, [&self.pull.0]).with_body(json!({ "content": word }));
        match self.account.send(&call, &format!("a claim on {}", self.pull)).await {
            Ok(answer) => Ok(answer.status == 201),
            Err(ForgeError::OutcomeUnknown) => Ok(false),
            // The operator of a server can restrict the allowed reactions.
            Err(ForgeError::Forbidden(_)) => Err(ForgeError::Unsupported("keep a claim".to_owned())),
            Err(error) => Err(error),
        }
    }

    async fn remove_reaction(&self, word: &str) -> Result<(), ForgeError> {
        // delete: own reaction
        let call = self.forge.repo_request(&routes::UNREACT, [&self.pull.0]).with_body(json!({ "content": word }));
        self.account.send(&call, &format!("a claim on {}", self.pull)).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
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
        let cases: [(&str, Vec<ScriptedAnswer>, ClaimOutcome); 12] = [
            ("free", vec![reaction_added(), reactions_listed(&[fresh])], ClaimOutcome::Acquired(epoch)),
            ("held", vec![reaction_found(), reactions_listed(&[fresh])], ClaimOutcome::HeldElsewhere),
            (
                "held by another reaction",
                vec![reaction_added(), reactions_listed(&[fresh, held]), (TAKE_AWAY, 204, Value::Null)],
                ClaimOutcome::HeldElsewhere,
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
                ClaimOutcome::Acquired(epoch),
            ),
            (
                "expired, and another was faster",
                vec![reaction_found(), reactions_listed(&[stale]), reaction_found()],
                ClaimOutcome::HeldElsewhere,
            ),
            (
                "another reaction expired",
                vec![reaction_added(), reactions_listed(&[old, fresh]), (TAKE_AWAY, 204, Value::Null)],
                ClaimOutcome::Acquired(epoch),
            ),
            (
                "a rival in the same second",
                vec![reaction_added(), reactions_listed(&[fresh, same]), (TAKE_AWAY, 204, Value::Null)],
                ClaimOutcome::HeldElsewhere,
            ),
            (
                "a younger rival",
                vec![reaction_added(), reactions_listed(&[fresh, ("09:59:59", "heart")])],
                ClaimOutcome::Acquired(epoch),
            ),
            (
                "taken away by a holder whose time is over",
                vec![reaction_added(), reactions_listed(&[])],
                ClaimOutcome::HeldElsewhere,
            ),
            (
                "all words are there",
                vec![
                    reaction_found(),
                    reactions_listed(&[("09:00:01", "eyes"), ("09:00:02", "heart"), old]),
                    (TAKE_AWAY, 204, Value::Null),
                ],
                ClaimOutcome::HeldElsewhere,
            ),
            (
                "the answer is lost",
                vec![(PUT, 502, Value::Null), reactions_listed(&[fresh])],
                ClaimOutcome::HeldElsewhere,
            ),
            (
                "the request is lost",
                vec![(PUT, 502, Value::Null), reactions_listed(&[]), reaction_added(), reactions_listed(&[fresh])],
                ClaimOutcome::Acquired(epoch),
            ),
        ];
        for (case, lines, expected) in cases {
            let server = ScriptedServer::new(lines).await;
            let claimed = server.forge.acquire_claim(PullNumber(7), ClaimPurpose::Publish, Span(120)).await;
            assert_eq!(claimed, Ok(expected), "{case}");
            server.finished_requests();
        }
    }

    #[tokio::test]
    async fn only_this_processs_claim_is_released() {
        let mine = ("09:59:58", "heart");
        let given = ScriptedServer::new([reactions_listed(&[mine]), (TAKE_AWAY, 200, Value::Null)]).await;
        assert_eq!(given.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1_794_736_798).await, Ok(()));
        assert_eq!(given.sent_bodies(TAKE_AWAY), [json!({ "content": "heart" })]);
        let newer = ScriptedServer::new([reactions_listed(&[mine])]).await;
        let refused = newer.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1_794_736_000).await;
        assert_eq!(refused, Err(ForgeError::Conflict("the claim".to_owned())));
        let gone = ScriptedServer::new([reactions_listed(&[])]).await;
        assert_eq!(gone.forge.release_claim(PullNumber(7), ClaimPurpose::Publish, 1).await, Ok(()));
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
}

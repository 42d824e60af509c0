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
//! | a write takes longer than half of the claim's time | the next reaction is added and the old one removed: the time starts again |
//! | a claim is released in the second it was taken | the release waits for the next second, so that no later claim has the same epoch |
//! | the response to the reaction is lost | the claim counts as held until it expires; then it is taken over |
//! | a holder whose claim expired stalls between reading and removing | it may remove a newer claim's reaction, since the server cannot compare. Therefore nothing depends on a claim alone (D6) |

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use referee_core::model::{PullNumber, Span, Time};
use serde::Deserialize;
use serde_json::json;
// The clock that `sleep` waits by.
use tokio::time::Instant;

use super::account::{GiteaAccount, parse_response, server_time};
use super::wire::{self, User};
use super::{GiteaForge, routes};
use crate::{ClaimHolder, ClaimOutcome, ClaimPurpose, ForgeError};

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
        let word = match claims.add_free_reaction(ttl).await? {
            Ok(word) => word,
            Err(holder) => return Ok(ClaimOutcome::HeldElsewhere(holder)),
        };
        let seen = claims.read_reactions().await?;
        let Some(mine) = seen.reactions.iter().find(|held| held.name == word) else {
            // A holder whose claim expired removed the reaction: the next attempt may succeed at once.
            return Ok(ClaimOutcome::HeldElsewhere(claims.holder_until(seen.now, seen.now)));
        };
        let (living, expired): (Vec<&HeldReaction>, Vec<&HeldReaction>) =
            seen.reactions.iter().filter(|held| held.name != word).partition(|held| held.is_active(seen.now, ttl));
        if let Some(rival) = living.iter().filter(|rival| rival.since <= mine.since).max_by_key(|rival| rival.since) {
            claims.remove_reaction(word).await?;
            let until = if rival.since < mine.since { rival.since.saturating_add(ttl) } else { seen.now };
            return Ok(ClaimOutcome::HeldElsewhere(claims.holder_until(until, seen.now)));
        }
        for old in expired {
            // The claim is valid without this; the next claim removes it.
            let _ = claims.remove_reaction(old.name).await;
        }
        let taken = TakenClaim {
            name: word,
            epoch: mine.epoch(),
            current_epoch: mine.epoch(),
            at: Instant::now(),
            renewed_at: Instant::now(),
            ttl,
            second_is_over: mine.since < seen.now,
        };
        self.lock_taken_claims().insert((pull, purpose), taken);
        Ok(ClaimOutcome::Acquired(mine.epoch()))
    }

    /// Runs a write, and renews the claim for posting on that pull whenever half of its time is over.
    pub(super) async fn keep_claim_during<T>(&self, pull: PullNumber, write: impl Future<Output = T>) -> T {
        let mut write = std::pin::pin!(write);
        loop {
            let due = self.lock_taken_claims().get(&(pull, ClaimPurpose::Publish)).map(TakenClaim::renewal_due_in);
            let Some(due) = due else { return write.await };
            tokio::select! {
                biased;
                output = &mut write => return output,
                () = tokio::time::sleep(due) => self.renew_claim(pull, ClaimPurpose::Publish).await,
            }
        }
    }

    /// Adds the next reaction, then removes the old one. If that fails, the claim keeps its time.
    async fn renew_claim(&self, pull: PullNumber, purpose: ClaimPurpose) {
        let Some(taken) = self.lock_taken_claims().get(&(pull, purpose)).cloned() else { return };
        let Ok(account) = self.reader_account() else { return };
        let claims = ReactionClaims { forge: self, account, pull, reaction_names: claim_reactions(purpose) };
        let renewed = claims.renew(&taken).await.unwrap_or(taken);
        let renewed = TakenClaim { renewed_at: Instant::now(), ..renewed };
        self.lock_taken_claims().insert((pull, purpose), renewed);
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
        let epoch = taken.as_ref().map_or(epoch, |taken| taken.current_epoch);
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
            None => Err(ForgeError::Conflict("the claim".to_owned())),
        }
    }
}

/// Claims that this process took, by pull and purpose.
pub(super) type TakenClaims = Arc<Mutex<BTreeMap<(PullNumber, ClaimPurpose), TakenClaim>>>;

/// A claim that this process took.
#[derive(Clone, Debug)]
pub(super) struct TakenClaim {
    name: &'static str,
    /// The epoch that its holder was given.
    epoch: u64,
    /// The epoch of the reaction that holds it now.
    current_epoch: u64,
    at: Instant,
    /// When it was renewed last, or tried to.
    renewed_at: Instant,
    ttl: Span,
    /// The server's clock had left the second of the claim, which is its epoch, when the claim was taken.
    second_is_over: bool,
}

impl TakenClaim {
    /// Whether nobody can have taken the claim over yet, with half of its time as a margin for clocks: then it is removed
    /// without reading the reactions first.
    fn is_surely_held(&self) -> bool {
        self.at.elapsed() < self.half_ttl()
    }

    fn renewal_due_in(&self) -> Duration {
        self.half_ttl().saturating_sub(self.renewed_at.elapsed())
    }

    fn half_ttl(&self) -> Duration {
        Duration::from_secs(u64::try_from(self.ttl.0 / 2).unwrap_or_default())
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

    /// Adds the first reaction, or the next one if that is present and all are expired; `Err` if the claim is held.
    async fn add_free_reaction(&self, ttl: Span) -> Result<Result<&'static str, ClaimHolder>, ForgeError> {
        if let Some(first) = self.reaction_names.first()
            && self.add_reaction(first).await?
        {
            return Ok(Ok(first));
        }
        let seen = self.read_reactions().await?;
        let newest = seen.reactions.iter().map(|held| held.since).max();
        if let Some(until) = newest.map(|since| since.saturating_add(ttl)).filter(|until| seen.now < *until) {
            return Ok(Err(self.holder_until(until, seen.now)));
        }
        let Some(word) = self.next_free_reaction(&seen.reactions) else {
            let oldest = seen.reactions.iter().min_by_key(|held| held.since).map(|held| held.name);
            self.remove_reaction(oldest.unwrap_or_default()).await?;
            return Ok(Err(self.holder_until(seen.now, seen.now)));
        };
        match self.add_reaction(word).await? {
            true => Ok(Ok(word)),
            false => Ok(Err(self.holder_until(seen.now.saturating_add(ttl), seen.now))),
        }
    }

    /// All claims are reactions of the own identity.
    fn holder_until(&self, until: Time, now: Time) -> ClaimHolder {
        ClaimHolder::new(self.account.login.clone(), until, now)
    }

    /// Replaces the reaction of a claim by another one, which starts its time again.
    async fn renew(&self, taken: &TakenClaim) -> Result<TakenClaim, ForgeError> {
        let after = self.reaction_names.iter().position(|word| *word == taken.name).map_or(0, |at| at + 1);
        let unavailable = || ForgeError::Conflict("the claim".to_owned());
        let word = self.reaction_names.iter().cycle().nth(after).copied().ok_or_else(unavailable)?;
        if !self.add_reaction(word).await? {
            return Err(unavailable());
        }
        let seen = self.read_reactions().await?;
        let mine = seen.reactions.iter().find(|held| held.name == word).ok_or_else(unavailable)?;
        self.remove_reaction(taken.name).await?;
        let (current_epoch, second_is_over) = (mine.epoch(), mine.since < seen.now);
        Ok(TakenClaim { name: word, current_epoch, at: Instant::now(), second_is_over, ..taken.clone() })
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
mod tests;

//! Claims: reactions by one identity, of which the forge takes each word once (D8).

use std::collections::BTreeMap;

use referee_core::model::{Lease, Login, Span, Time};
use referee_forge::{ClaimOutcome, ClaimPurpose, ForgeError};

use super::rows::StoredRepo;

/// The words of one purpose: a take-over needs another one than the expired claim's.
const REACTIONS_PER_PURPOSE: u64 = 4;

/// All claims, by number, identity and purpose. Pulls and issues share their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredClaims {
    held: BTreeMap<ClaimKey, HeldClaim>,
    epochs: BTreeMap<ClaimKey, u64>,
}

type ClaimKey = (u64, Login, ClaimPurpose);

#[derive(Clone, Debug, PartialEq, Eq)]
struct HeldClaim {
    reaction: u64,
    epoch: u64,
    since: Time,
    until: Time,
    /// Somebody else may still believe in the claim that was taken over.
    allows_second_claim: bool,
}

impl StoredRepo {
    /// Takes a claim.
    ///
    /// | held | answer |
    /// |---|---|
    /// | by nobody | mine, first word |
    /// | for less than the asked time | held |
    /// | for longer | mine, next word, the old one is taken away |
    /// | by a take-over, and take-overs race | mine as well, once |
    pub(crate) fn claim(
        &mut self,
        number: u64,
        by: &Login,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        if self.quirks.no_claims {
            return Err(ForgeError::Unsupported("keep a claim".to_owned()));
        }
        let (now, races) = (self.now, self.quirks.claims_race);
        let key = (number, by.clone(), purpose);
        let word = match self.claims.held.get_mut(&key) {
            None => 0,
            Some(held) if held.allows_second_claim => {
                held.allows_second_claim = false;
                held.reaction
            }
            Some(held) if now < held.since.saturating_add(ttl) => return Ok(ClaimOutcome::HeldElsewhere),
            Some(held) => (held.reaction + 1) % REACTIONS_PER_PURPOSE,
        };
        let taken_over = self.claims.held.get(&key).is_some_and(|held| held.reaction != word);
        let epoch = self.claims.epochs.entry(key.clone()).or_default();
        *epoch += 1;
        let held = HeldClaim {
            reaction: word,
            epoch: *epoch,
            since: now,
            until: now.saturating_add(ttl),
            allows_second_claim: races && taken_over,
        };
        let epoch = held.epoch;
        self.claims.held.insert(key, held);
        Ok(ClaimOutcome::Acquired(epoch))
    }

    /// Gives a claim back; one that is gone already is given back, one of a newer epoch is not.
    pub(crate) fn release(
        &mut self,
        number: u64,
        by: &Login,
        purpose: ClaimPurpose,
        epoch: u64,
    ) -> Result<bool, ForgeError> {
        let key = (number, by.clone(), purpose);
        match self.claims.held.get(&key) {
            None => Ok(false),
            Some(held) if held.epoch == epoch => Ok(self.claims.held.remove(&key).is_some()),
            Some(_) => Err(ForgeError::Conflict("the claim".to_owned())),
        }
    }

    /// The work claim on a pull or issue: the newest, whoever holds it.
    pub(crate) fn lease(&self, number: u64) -> Option<Lease> {
        let work = |key: &&ClaimKey| key.0 == number && key.2 == ClaimPurpose::Work;
        let held = self.claims.held.iter().filter(|(key, _)| work(key)).max_by_key(|(_, held)| held.since);
        held.map(|(key, held)| Lease { by: key.1.to_string(), epoch: held.epoch, since: held.since, until: held.until })
    }
}

//! Claims: reactions of an identity. The forge accepts each reaction of a user only once (D8).

use std::collections::BTreeMap;

use referee_core::model::{Lease, Login, Span, Time};
use referee_forge::{ClaimHolder, ClaimOutcome, ClaimPurpose, ForgeError};

use super::rows::StoredRepo;

/// The number of distinct reactions per purpose. A take-over needs another one than the expired claim.
const REACTIONS_PER_PURPOSE: u64 = 4;

/// All claims, by number, login and purpose. Pulls and issues share their numbering.
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
    /// Whether the holder of the claim that was taken over may still succeed once.
    allows_second_claim: bool,
}

impl StoredRepo {
    /// Acquires a claim.
    ///
    /// | current claim | result |
    /// |---|---|
    /// | none | acquired with the first reaction |
    /// | younger than `ttl` | held elsewhere |
    /// | older | acquired with the next reaction; the old one is removed |
    /// | just taken over, and take-overs race | acquired once more |
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
        let reaction = match self.claims.held.get_mut(&key) {
            None => 0,
            Some(held) if held.allows_second_claim => {
                held.allows_second_claim = false;
                held.reaction
            }
            Some(held) if now < held.since.saturating_add(ttl) => {
                let holder = ClaimHolder::new(by.clone(), held.since.saturating_add(ttl), now);
                return Ok(ClaimOutcome::HeldElsewhere(holder));
            }
            Some(held) => (held.reaction + 1) % REACTIONS_PER_PURPOSE,
        };
        let taken_over = self.claims.held.get(&key).is_some_and(|held| held.reaction != reaction);
        let epoch = self.claims.epochs.entry(key.clone()).or_default();
        *epoch += 1;
        let held = HeldClaim {
            reaction,
            epoch: *epoch,
            since: now,
            until: now.saturating_add(ttl),
            allows_second_claim: races && taken_over,
        };
        let epoch = held.epoch;
        self.claims.held.insert(key, held);
        Ok(ClaimOutcome::Acquired(epoch))
    }

    /// Releases a claim. A missing one counts as released; one of a newer epoch is a conflict.
    pub(crate) fn release(
        &mut self,
        number: u64,
        by: &Login,
        purpose: ClaimPurpose,
        epoch: u64,
    ) -> Result<(), ForgeError> {
        let key = (number, by.clone(), purpose);
        let is_held = self.claims.held.get(&key).is_some_and(|held| held.epoch == epoch);
        if !is_held {
            return Err(ForgeError::Conflict("the claim".to_owned()));
        }
        self.claims.held.remove(&key);
        Ok(())
    }

    /// Returns the newest work claim on a pull or issue, of any holder.
    pub(crate) fn lease(&self, number: u64) -> Option<Lease> {
        let work = |key: &&ClaimKey| key.0 == number && key.2 == ClaimPurpose::Work;
        let held = self.claims.held.iter().filter(|(key, _)| work(key)).max_by_key(|(_, held)| held.since);
        held.map(|(key, held)| Lease { by: key.1.to_string(), epoch: held.epoch, since: held.since, until: held.until })
    }
}

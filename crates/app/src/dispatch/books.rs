//! The journal of a whole repository: what is done on a pull goes into that pull's own.

use referee_core::model::PullNumber;
use referee_core::policy::Policy;
use referee_turn::{Intent, Journal, Receipt, Record};

use crate::case::key;
use crate::reach::Site;
use crate::store::Store;

/// The journals of a repository's pulls.
#[derive(Debug)]
pub(super) struct Books<'a> {
    pub(super) store: &'a Store,
    pub(super) site: &'a Site,
    pub(super) policy: &'a Policy,
}

impl Books<'_> {
    fn of(&self, pull: PullNumber) -> String {
        key(self.site, pull)
    }
}

impl Journal for Books<'_> {
    fn intend(&self, intent: &Intent<'_>) -> Result<(), String> {
        self.store.notebook(&self.of(intent.pull), self.policy).intend(intent)
    }

    fn conclude(&self, intent: &Intent<'_>, receipt: &Receipt) {
        self.store.notebook(&self.of(intent.pull), self.policy).conclude(intent, receipt);
    }

    fn keep(&self, record: &Record<'_>) {
        self.store.notebook(&self.of(record.snapshot.pull.number), self.policy).keep(record);
    }
}

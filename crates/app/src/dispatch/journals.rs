//! The journal of a dispatch pass: each record goes to the journal of its pull.

use referee_core::model::PullNumber;
use referee_core::policy::Policy;
use referee_turn::{Intent, Journal, JournalRecord, Receipt};

use crate::session::connect::pull_key;
use crate::session::site::RemoteSite;
use crate::store::Store;

/// The journals of a repository's pulls.
#[derive(Debug)]
pub(super) struct PullJournals<'a> {
    pub(super) store: &'a Store,
    pub(super) site: &'a RemoteSite,
    pub(super) policy: &'a Policy,
}

impl PullJournals<'_> {
    fn journal_key(&self, pull: PullNumber) -> String {
        pull_key(self.site, pull)
    }
}

impl Journal for PullJournals<'_> {
    fn record_intent(&self, intent: &Intent<'_>) -> Result<(), String> {
        self.store.open_journal(&self.journal_key(intent.pull), self.policy).record_intent(intent)
    }

    fn record_receipt(&self, intent: &Intent<'_>, receipt: &Receipt) {
        self.store.open_journal(&self.journal_key(intent.pull), self.policy).record_receipt(intent, receipt);
    }

    fn record_turn(&self, record: &JournalRecord<'_>) {
        self.store.open_journal(&self.journal_key(record.snapshot.pull.number), self.policy).record_turn(record);
    }
}

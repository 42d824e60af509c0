//! The findings of a role that referee remembers: entries of its summary's Block, and roots of its threads.

use crate::mark::{BlockEntry, TagKind};
use crate::model::{FindingId, FindingState, Login, Severity, Sha, Snapshot, Thread, Time, TrackedFinding};
use crate::policy::Role;
use crate::track::{CodeLocation, Fingerprint};

use super::StandingReview;

/// A finding that was raised before.
#[derive(Clone, Copy, Debug)]
pub struct KnownFinding<'a> {
    /// Its id.
    pub id: FindingId,
    /// How grave, as last said.
    pub severity: Severity,
    /// Where it stood when it was last written down.
    pub state: FindingState,
    /// Its title; a finding known by its thread alone has none.
    pub title: &'a str,
    /// The file.
    pub path: &'a str,
    /// The line at `head`.
    pub line: Option<u32>,
    /// Where the last evaluation found it, if elsewhere.
    pub moved_to: Option<&'a CodeLocation>,
    /// The rule that found it.
    pub rule: Option<&'a str>,
    /// Its identity.
    pub fingerprint: &'a Fingerprint,
    /// The head at which it was raised or last worsened.
    pub head: &'a Sha,
    /// The rounds in which it blocked.
    pub rounds: &'a [u32],
    /// Who accepted it.
    pub accepted_by: Option<&'a Login>,
    /// When somebody said `reopen`, once that was heeded.
    pub reopened_at: Option<Time>,
    /// Its thread: the newest open one, else the newest.
    pub thread: Option<&'a Thread>,
    /// Where its code went.
    pub track: Option<&'a TrackedFinding>,
    /// It is in the Block.
    pub in_block: bool,
    /// It came back after its thread was resolved, and got no other: that resolution says nothing of it any more.
    recurred_without_thread: bool,
}

impl<'a> KnownFinding<'a> {
    /// All of a role's findings, by id.
    pub(super) fn collect_for_role(
        snapshot: &'a Snapshot,
        role: &Role,
        identity: &Login,
        standing: Option<StandingReview<'a>>,
    ) -> Vec<Self> {
        let entries = standing
            .and_then(|standing| standing.review.text.reading.block.as_deref())
            .map_or(&[][..], |block| block.entries.as_slice());
        let mut known: Vec<Self> = entries.iter().map(Self::from_entry).collect();
        known.sort_by_key(|it| it.id);
        for thread in &snapshot.threads {
            let Some(root) = thread.root() else { continue };
            let Some(tag) = root.text.trusted_tag() else { continue };
            let TagKind::Root { role: of, finding, fingerprint, severity, .. } = &tag.kind else { continue };
            if *of != role.name || !root.author.has_login(identity) {
                continue;
            }
            match known.binary_search_by_key(finding, |it| it.id) {
                Ok(at) => {
                    if let Some(it) = known.get_mut(at) {
                        it.adopt_thread(thread, &tag.head);
                    }
                }
                Err(at) => known.insert(
                    at,
                    Self {
                        id: *finding,
                        severity: *severity,
                        state: FindingState::Open,
                        title: "",
                        path: thread.path.as_deref().unwrap_or_default(),
                        line: thread.line,
                        moved_to: None,
                        rule: None,
                        fingerprint,
                        head: &tag.head,
                        rounds: &[],
                        accepted_by: None,
                        reopened_at: None,
                        thread: Some(thread),
                        track: None,
                        in_block: false,
                        recurred_without_thread: false,
                    },
                ),
            }
        }
        for tracked in snapshot.changes.tracks.iter().filter(|tracked| tracked.role == role.name) {
            let at = known.binary_search_by_key(&tracked.finding, |it| it.id);
            if let Some(it) = at.ok().and_then(|at| known.get_mut(at)) {
                it.track.get_or_insert(tracked);
            }
        }
        known
    }

    fn from_entry(entry: &'a BlockEntry) -> Self {
        Self {
            id: entry.id,
            severity: entry.severity,
            state: entry.state,
            title: &entry.title,
            path: &entry.path,
            line: entry.line,
            moved_to: entry.now.as_ref(),
            rule: entry.rule.as_deref(),
            fingerprint: &entry.fingerprint,
            head: &entry.head,
            rounds: &entry.rounds,
            accepted_by: entry.by.as_ref(),
            reopened_at: entry.reopened,
            thread: None,
            track: None,
            in_block: true,
            recurred_without_thread: !entry.threaded && !entry.state.is_settled(),
        }
    }

    /// Two threads of one finding: a worsened one cites the resolved one, a crash may leave a twin.
    ///
    /// A resolved thread of an earlier life is no thread of a finding that is back, raised at another head.
    fn adopt_thread(&mut self, thread: &'a Thread, raised_at: &Sha) {
        let over = thread.resolved.is_some() || self.recurred_without_thread;
        if over && !self.state.is_settled() && raised_at != self.head {
            return;
        }
        // An open one before a resolved one, then the younger: whatever the order in which the forge tells them.
        let rank = |it: &'a Thread| (it.resolved.is_none(), it.root().map(|root| root.at), &it.id);
        let keep = self.thread.is_some_and(|have| rank(thread) < rank(have));
        let outlived = self.recurred_without_thread && thread.resolved.is_some();
        if !keep && !outlived {
            self.thread = Some(thread);
        }
    }
}

/// The highest finding id in any own Mark, Block or Tag: new ones are given above it.
pub(crate) fn highest_finding_id(snapshot: &Snapshot) -> FindingId {
    let in_reviews = snapshot.reviews.iter().filter_map(|review| {
        let block = review.text.reading.block.as_deref();
        let entries = block.and_then(|block| block.entries.iter().map(|entry| entry.id).max());
        review.text.trusted_mark().map(|mark| mark.highest).max(entries)
    });
    let in_threads = snapshot.threads.iter().flat_map(|thread| &thread.notes).filter_map(|note| {
        match note.text.trusted_tag().map(|tag| &tag.kind) {
            Some(TagKind::Root { finding, .. }) => Some(*finding),
            _ => None,
        }
    });
    in_reviews.chain(in_threads).max().unwrap_or_default()
}

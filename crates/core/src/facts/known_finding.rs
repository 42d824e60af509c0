//! The stored findings of a role: entries of its summary's Block, and root notes of its threads.

use crate::mark::{BlockEntry, TagKind};
use crate::model::{
    FindingDetail, FindingId, FindingState, Login, Severity, Sha, Snapshot, Thread, Time, TrackedFinding,
};
use crate::policy::Role;
use crate::render::{RootWords, split_thread_root};
use crate::track::{CodeLocation, Fingerprint};

use super::StandingReview;

/// A finding that was raised before.
#[derive(Clone, Copy, Debug)]
pub struct KnownFinding<'a> {
    pub id: FindingId,
    /// The severity as last posted.
    pub severity: Severity,
    /// The state as last stored.
    pub state: FindingState,
    /// From the Block, or from the thread.
    pub title: &'a str,
    /// The path at `head`.
    pub path: &'a str,
    /// The line at `head`.
    pub line: Option<u32>,
    /// Where the last evaluation found it, if it moved.
    pub moved_to: Option<&'a CodeLocation>,
    pub rule: Option<&'a str>,
    /// Body, range, column and help page; the body from the Block, or from the thread.
    pub detail: FindingDetail<'a>,
    pub fingerprint: &'a Fingerprint,
    /// The head at which it was raised or last worsened.
    pub head: &'a Sha,
    /// The rounds in which it blocked.
    pub rounds: &'a [u32],
    /// The login of the person who accepted it.
    pub accepted_by: Option<&'a Login>,
    /// The time of the `reopen` that the Block already takes into account.
    pub reopened_at: Option<Time>,
    /// The newest open thread, otherwise the newest.
    pub thread: Option<&'a Thread>,
    /// Where its code is in the current head.
    pub track: Option<&'a TrackedFinding>,
    /// The Block has an entry for it.
    pub in_block: bool,
    /// It came back after its thread was resolved, and got no new thread: the old resolution does not apply to it.
    recurred_without_thread: bool,
}

impl<'a> KnownFinding<'a> {
    /// Collects all findings of a role, by id.
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
            let TagKind::Root { role: owner, finding, fingerprint, severity, .. } = &tag.kind else { continue };
            if *owner != role.name || !root.author.has_login(identity) {
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
                        detail: FindingDetail::default(),
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
        known.iter_mut().for_each(Self::complete_from_thread);
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
            detail: entry.detail.as_detail(),
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

    /// Takes title and body from the root of the thread where the Block had no room for them (PUB-24).
    fn complete_from_thread(&mut self) {
        if !self.title.is_empty() {
            return;
        }
        let root = self.thread.and_then(Thread::root).and_then(|root| root.text.body.as_deref());
        if let Some(RootWords { title, body }) = root.and_then(split_thread_root) {
            self.title = title;
            self.detail.body = body;
        }
    }

    /// Takes a thread as this finding's thread. A finding may have two: a worsened one cites the resolved one, and a
    /// crash may leave a duplicate.
    ///
    /// A thread of another head that is resolved does not belong to a finding that came back.
    fn adopt_thread(&mut self, thread: &'a Thread, raised_at: &Sha) {
        let closed = thread.resolved.is_some() || self.recurred_without_thread;
        if closed && !self.state.is_settled() && raised_at != self.head {
            return;
        }
        // An open one before a resolved one, then the newer one, whatever the order in the forge's response.
        let rank = |it: &'a Thread| (it.resolved.is_none(), it.root().map(|root| root.at), &it.id);
        let keep = self.thread.is_some_and(|have| match is_double(thread, have) {
            true => !is_preferred_double(thread, have),
            false => rank(thread) < rank(have),
        });
        let is_outdated = self.recurred_without_thread && thread.resolved.is_some();
        if !keep && !is_outdated {
            self.thread = Some(thread);
        }
    }
}

/// Returns whether two processes opened these threads for one finding at one head (D42), and both are open. The order of
/// the arguments does not matter.
pub(crate) fn is_double(a: &Thread, b: &Thread) -> bool {
    let is_open = |thread: &Thread| {
        let tag = thread.root().and_then(|root| root.text.trusted_tag());
        let is_settled = tag.is_some_and(|tag| matches!(tag.kind, TagKind::Root { settled: Some(_), .. }));
        thread.resolved.is_none() && !is_settled
    };
    is_open(a) && is_open(b) && repeats(a, b)
}

/// Returns whether both threads raise one finding at one head and place.
pub(crate) fn repeats(a: &Thread, b: &Thread) -> bool {
    let tag = |thread| -> Option<_> {
        let tag = Thread::root(thread)?.text.trusted_tag()?;
        match &tag.kind {
            TagKind::Root { role, fingerprint, .. } => Some((role, fingerprint, &tag.head)),
            _ => None,
        }
    };
    let is_same_place = a.path == b.path && a.line == b.line && a.start_line == b.start_line && a.side == b.side;
    is_same_place && tag(a).is_some() && tag(a) == tag(b)
}

/// Returns whether the finding keeps `thread` instead of its double: the one that others wrote in, otherwise the older.
pub(crate) fn is_preferred_double(thread: &Thread, double: &Thread) -> bool {
    let rank = |it: &Thread| (!has_replies(it), it.root().map(|root| root.at), it.id.clone());
    rank(thread) < rank(double)
}

/// Returns whether anybody but the thread's author wrote in it.
pub(crate) fn has_replies(thread: &Thread) -> bool {
    let author = thread.root().map(|root| &root.author.login);
    thread.notes.iter().any(|note| Some(&note.author.login) != author)
}

/// Returns the highest finding id in any Mark, Block or Tag of referee; new ids are above it.
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

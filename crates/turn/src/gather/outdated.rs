//! Threads whose place is not in the change any more. Forges tell it late, wrongly or not at all: git knows.

use std::collections::BTreeMap;

use referee_core::model::{ReviewId, Sha, Snapshot, Thread};
use referee_core::track::{CodeLocation, Side, Track, follow_locations};

use super::GatherError;
use super::delta::DeltaCache;

/// Marks threads as outdated whose line, as their review saw it, is gone or another one at the head.
pub(super) fn mark_outdated_threads(snapshot: &mut Snapshot, deltas: &mut DeltaCache<'_>) -> Result<(), GatherError> {
    let Snapshot { reviews, threads, pull, .. } = snapshot;
    let seen: BTreeMap<&ReviewId, &Sha> =
        reviews.iter().filter_map(|review| Some((&review.id, review.commit.as_ref()?))).collect();
    let mut by_commit: BTreeMap<&Sha, Vec<(&mut Thread, CodeLocation)>> = BTreeMap::new();
    for thread in threads.iter_mut().filter(|thread| !thread.outdated) {
        let at = thread.review.as_ref().and_then(|review| seen.get(review)).filter(|at| ***at != pull.head);
        if let (Some(at), Some(location)) = (at, locate_thread(thread)) {
            by_commit.entry(at).or_default().push((thread, location));
        }
    }
    for (at, threads) in by_commit {
        // What a forge keeps of a commit that git has lost is all there is to know.
        let Some(delta) = deltas.since(at)? else { continue };
        let (threads, locations): (Vec<_>, Vec<_>) = threads.into_iter().unzip();
        for (thread, track) in threads.into_iter().zip(follow_locations(&locations, &delta.file_changes())) {
            thread.outdated = matches!(track, Track::Changed(_) | Track::Gone);
        }
    }
    Ok(())
}

/// A place on the new side; of the old one nothing can go.
fn locate_thread(thread: &Thread) -> Option<CodeLocation> {
    let (path, line) = (thread.path.as_ref()?, thread.line?);
    (thread.side == Side::New).then(|| CodeLocation { path: path.clone(), line, end_line: line })
}

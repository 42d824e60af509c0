//! Finds outdated threads: their lines are no longer in the change. Forges report that late, wrongly or not at all, so
//! git decides.

use std::collections::BTreeMap;

use referee_core::model::{ReviewId, Sha, Snapshot, Thread};
use referee_core::track::{CodeLocation, Side, Track, follow_locations};

use super::GatherError;
use super::delta::DeltaCache;

/// Marks a thread as outdated if its line, at the commit of its review, was changed or removed since.
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
        // For a commit that git no longer has, keep what the forge reports.
        let Some(delta) = deltas.since(at)? else { continue };
        let (threads, locations): (Vec<_>, Vec<_>) = threads.into_iter().unzip();
        for (thread, track) in threads.into_iter().zip(follow_locations(&locations, &delta.file_changes())) {
            thread.outdated = matches!(track, Track::Changed(_) | Track::Gone);
        }
    }
    Ok(())
}

/// Returns the location on the new side. Lines on the old side cannot become outdated.
fn locate_thread(thread: &Thread) -> Option<CodeLocation> {
    let (path, line) = (thread.path.as_ref()?, thread.line?);
    (thread.side == Side::New).then(|| CodeLocation { path: path.clone(), line, end_line: line })
}

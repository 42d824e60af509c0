//! Whether a rebase keeps the changes and commits of the pull.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::track::{ConflictArea, PatchId, WorkCommit, find_lost_changes, pair_commits};

use crate::diff_of::Patch;

const BASE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn lost(merged: &str, result: &str, area: Option<ConflictArea>) -> bool {
    let (merged, result) = (Patch::of(BASE, merged), Patch::of(BASE, result));
    let conflicts: BTreeMap<String, ConflictArea> = area.map(|area| ("a.rs".to_owned(), area)).into_iter().collect();
    !find_lost_changes(&[merged.file()], &[result.file()], &conflicts).is_empty()
}

// spec: DSP-14 @core
#[test]
fn every_edit_of_the_merge_must_be_in_the_result() {
    let merged = "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n";
    for (result, want, why) in [
        (merged, false, "the same"),
        ("1\ntwo\n3\n4\nextra\n5\n6\n7\n8\nnine\n", false, "with one edit more"),
        ("1\ntwo\n3\n4\n5\n6\n7\n8\n9\n", true, "one edit is missing"),
        ("1\nTWO\n3\n4\n5\n6\n7\n8\nnine\n", true, "one edit differs"),
        ("1\n2\ntwo\n4\n5\n6\n7\n8\nnine\n", true, "one edit is elsewhere"),
        ("1\ntwo\n3\n4\n5\n6\n7\n8\nnine", true, "without the final line feed"),
        (BASE, true, "nothing is left"),
    ] {
        assert_eq!(lost(merged, result, None), want, "{why}");
    }
    assert!(!find_lost_changes(&[Patch::of(BASE, "").file()], &[], &BTreeMap::new()).is_empty(), "no such file");
}

// spec: DSP-14 @core
#[test]
fn only_the_conflicting_lines_may_differ() {
    let merged = "1\n2\n<<<<<<< ours\n3\n=======\ndrei\n>>>>>>> theirs\n4\n5\n6\n7\n8\nnine\n";
    let area = || ConflictArea::from_markers(merged.as_bytes(), "ours", "theirs");
    assert_eq!(area(), ConflictArea::Lines(vec![(3, 7)]));
    for result in ["1\n2\ndrei\n4\n5\n6\n7\n8\nnine\n", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"] {
        assert!(!lost(merged, result, Some(area())), "however the conflict is solved: {result}");
    }
    assert!(lost(merged, "1\n2\ndrei\n4\n5\n6\n7\n8\n9\n", Some(area())), "the other edit of the file is kept");
    assert!(lost(merged, BASE, Some(area())));
    // A file that was deleted on one side has no markers.
    assert_eq!(ConflictArea::from_markers(b"=======\n", "ours", "theirs"), ConflictArea::WholeFile);
    assert!(!lost(merged, BASE, Some(ConflictArea::WholeFile)));
}

fn commit(name: &str, author: &str, patch: &str) -> WorkCommit {
    WorkCommit {
        sha: Sha::from(name),
        author: author.split('@').next().unwrap_or_default().to_owned(),
        author_line: author.to_owned(),
        committer: "bot".to_owned(),
        paths: vec!["a.rs".to_owned()],
        patch: (!patch.is_empty()).then(|| PatchId(patch.to_owned())),
    }
}

// spec: DSP-14 @core
#[test]
fn a_rebased_commit_keeps_its_author() {
    let old = [commit("o1", "alice@1", "p1"), commit("o2", "bob@2", "p2"), commit("merge", "bob@3", "")];
    let pairs = |new: &[WorkCommit]| {
        let pairs = pair_commits(&old[..2], new, "bot");
        [pairs.foreign, pairs.dropped].map(|all| all.iter().map(Sha::to_string).collect::<Vec<_>>().join(" "))
    };
    let kept = [commit("n1", "alice@1", "p1"), commit("n2", "bob@2", "p2")];
    assert_eq!(pairs(&kept), ["", ""]);
    let solved = [commit("n1", "alice@1", "other"), commit("n2", "bob@2", "p2"), commit("n3", "bot@9", "p3")];
    assert_eq!(pairs(&solved), ["", ""], "a conflict changes the patch, and the worker may add a commit");
    assert_eq!(pairs(&kept[..1]), ["", "o2"], "dropped");
    assert_eq!(pairs(&[commit("n", "bot@9", "p1+p2")]), ["", "o1 o2"], "squashed");
    assert_eq!(pairs(&[commit("n1", "bot@9", "p1"), kept[1].clone()]), ["n1", ""], "taken over");
    assert_eq!(pairs(&[commit("n1", "bob@2", "p1"), commit("n2", "alice@1", "p2")]), ["n1 n2", ""], "swapped");
    assert_eq!(pairs(&[kept.as_slice(), &[commit("n3", "alice@1", "p3")]].concat()), ["n3", ""], "forged");
    let committed = WorkCommit { committer: "alice".to_owned(), ..kept[0].clone() };
    assert_eq!(pairs(&[committed, kept[1].clone()]), ["n1", ""], "committed in another name");
    let merge = WorkCommit { paths: Vec::new(), ..old[2].clone() };
    assert_eq!(pair_commits(&[merge], &[], "bot").dropped, [] as [Sha; 0], "a rebase leaves merges out");
}

//! Pulls of the local forge are ranges of commits: opened once, moved by git, never lost.

use referee_core::model::{Login, Mergeable, PullNumber, PullState};
use referee_forge::Reader;
use referee_forge::local::{LocalError, format_local_name};
use referee_testkit::block_on;

use crate::repo::{FILE, NOW, TestRepo, alice};

#[test]
fn opening_a_range_twice_returns_the_same_pull() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    assert_eq!(forge.open_range("feature", "main", &Login::from("bob")).expect("the same"), pull);
    let listed = forge.list_pulls().expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].author.as_str(), listed[0].title.as_str()), ("alice", "change src/a.rs"));
    let pull_info = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((pull_info.forge.as_str(), pull_info.url, pull_info.head), ("local", format_local_name(pull), head));
    assert_eq!((pull_info.opened_at, pull_info.pushes.len(), pull_info.mergeable), (NOW, 1, Mergeable::Clean));
    assert_ne!(pull_info.repo.0, 0);
    assert_eq!(
        block_on(repo.forge().fetch(pull)).expect("a pull").pull.repo,
        pull_info.repo,
        "the repository id is stable"
    );
    assert!(matches!(forge.open_range("feature", "nowhere", &alice()), Err(LocalError::NoSuchRevision(_))));
    assert!(matches!(forge.open_range("nowhere", "main", &alice()), Err(LocalError::NoSuchRevision(_))));
}

#[test]
fn a_moved_branch_is_listed_as_a_push_before_it_is_stored() {
    let repo = TestRepo::new();
    let (forge, pull, first) = repo.pull("feature");
    let second = repo.commit(FILE, "fn one() {}\n");
    let heads = || -> Vec<_> {
        let pull_info = block_on(forge.fetch(pull)).expect("a pull").pull;
        assert_eq!(Some(pull_info.head_since), pull_info.pushes.last().map(|push| push.at));
        pull_info.pushes.into_iter().map(|push| push.head).collect()
    };
    assert_eq!(heads(), [first.clone(), second.clone()]);
    assert_eq!(forge.list_pulls().expect("a list")[0].head, first, "reading writes nothing");
    forge.sync_pull(pull).expect("store the push");
    forge.sync_pull(pull).expect("store nothing");
    assert_eq!(heads(), [first.clone(), second.clone()]);
    // The branch moves back; the commit that it left must survive `git gc`.
    repo.git(&["reset", "--quiet", "--hard", first.as_str()]);
    forge.sync_pull(pull).expect("store the push");
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(heads(), [first.clone(), second.clone(), first]);
    repo.git(&["cat-file", "-e", second.as_str()]);
}

#[test]
fn a_deleted_branch_keeps_its_last_head() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "feature"]);
    let pull_info = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((pull_info.head, pull_info.state), (head, PullState::Open));
    repo.git(&["update-ref", "-d", &format!("refs/referee/keep/{}", pull_info.pushes[0].head)]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    let error = block_on(forge.fetch_head(pull)).expect_err("the head is gone");
    assert!(error.to_string().contains("the branch `feature` is gone"), "{error}");
}

#[test]
fn a_branch_merged_into_its_base_is_a_merged_pull() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    let state = || block_on(forge.fetch(pull)).expect("a pull").pull.state;
    assert_eq!(state(), PullState::Open);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-ff", "--no-edit", "feature"]);
    assert_eq!(state(), PullState::Merged);
    forge.sync_pull(pull).expect("store the push");
    assert_eq!(forge.find_open_pull("feature", "main").expect("a lookup"), None);
    assert_eq!((state(), forge.list_pulls().expect("a list")[0].state), (PullState::Merged, PullState::Merged));
}

#[test]
fn a_branch_without_commits_is_not_merged() {
    let repo = TestRepo::new();
    repo.git(&["branch", "empty"]);
    let forge = repo.forge();
    let pull = forge.open_range("empty", "main", &alice()).expect("a pull");
    repo.commit("README.md", "main went on\n");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").pull.state, PullState::Open);
}

#[test]
fn a_merge_conflict_is_detected() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.commit(FILE, "something else\n");
    let pull_info = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((pull_info.mergeable, pull_info.state), (Mergeable::Conflict, PullState::Open));
}

#[test]
fn an_explicit_head_moves_only_when_it_is_set_again() {
    let repo = TestRepo::new();
    let first = repo.branch("feature");
    let forge = repo.forge();
    let pull = forge.open_range_at("staged", "main", &alice(), &first).expect("a pull");
    let second = repo.commit(FILE, "fn one() {}\n");
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), first);
    let (preview, previewed) = forge.preview_range("staged", "main", &alice(), Some(&second)).expect("a preview");
    assert_eq!((previewed, block_on(preview.fetch_head(pull)).expect("a head")), (pull, second.clone()));
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), first, "a preview writes nothing");
    assert_eq!(forge.open_range_at("staged", "main", &alice(), &second).expect("the same"), pull);
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), second);
}

#[test]
fn the_pull_last_used_on_a_branch_is_remembered() {
    let repo = TestRepo::new();
    let (forge, one, _) = repo.pull("one");
    let (_, two, _) = repo.pull("two");
    forge.set_last_used("one", one).expect("remembered");
    forge.set_last_used("one", two).expect("remembered");
    assert_eq!(forge.last_used("one").expect("a lookup"), Some(two));
    assert_eq!(forge.last_used("two").expect("a lookup"), None);
    assert!(matches!(forge.set_last_used("one", PullNumber(99)), Err(LocalError::NotFound(_))));
}

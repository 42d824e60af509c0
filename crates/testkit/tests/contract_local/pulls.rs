//! Pulls are ranges of commits: opened once, moved by git alone, never lost.

use referee_core::model::{Login, Mergeable, PullNumber, PullState};
use referee_forge::Reader;
use referee_forge::local::{LocalError, format_local_name};
use referee_testkit::block_on;

use crate::repo::{FILE, NOW, Repo, alice};

#[test]
fn a_range_is_one_pull() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    assert_eq!(forge.open_range("feature", "main", &Login::from("bob")).expect("the same"), pull);
    let listed = forge.list_pulls().expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].author.as_str(), listed[0].title.as_str()), ("alice", "change src/a.rs"));
    let told = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((told.forge.as_str(), told.url, told.head), ("local", format_local_name(pull), head));
    assert_eq!((told.opened_at, told.pushes.len(), told.mergeable), (NOW, 1, Mergeable::Clean));
    assert_ne!(told.repo.0, 0);
    assert_eq!(block_on(repo.forge().fetch(pull)).expect("a pull").pull.repo, told.repo, "the number is stable");
    assert!(matches!(forge.open_range("feature", "nowhere", &alice()), Err(LocalError::NoSuchRevision(_))));
    assert!(matches!(forge.open_range("nowhere", "main", &alice()), Err(LocalError::NoSuchRevision(_))));
}

#[test]
fn a_moved_branch_is_a_push_before_anybody_writes_it_down() {
    let repo = Repo::new();
    let (forge, pull, first) = repo.pull("feature");
    let second = repo.commit(FILE, "fn one() {}\n");
    let heads = || -> Vec<_> {
        let told = block_on(forge.fetch(pull)).expect("a pull").pull;
        assert_eq!(Some(told.head_since), told.pushes.last().map(|push| push.at));
        told.pushes.into_iter().map(|push| push.head).collect()
    };
    assert_eq!(heads(), [first.clone(), second.clone()]);
    assert_eq!(forge.list_pulls().expect("a list")[0].head, first, "reading writes nothing");
    forge.sync_pull(pull).expect("written down");
    forge.sync_pull(pull).expect("once");
    assert_eq!(heads(), [first.clone(), second.clone()]);
    // Back to where it was, and what it left is kept from being cleaned away.
    repo.git(&["reset", "--quiet", "--hard", first.as_str()]);
    forge.sync_pull(pull).expect("written down");
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(heads(), [first.clone(), second.clone(), first]);
    repo.git(&["cat-file", "-e", second.as_str()]);
}

#[test]
fn a_branch_that_is_gone_leaves_its_last_head() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["branch", "--quiet", "-D", "feature"]);
    let told = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((told.head, told.state), (head, PullState::Open));
    repo.git(&["update-ref", "-d", &format!("refs/referee/keep/{}", told.pushes[0].head)]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    let error = block_on(forge.fetch_head(pull)).expect_err("no head");
    assert!(error.to_string().contains("the branch `feature` is gone"), "{error}");
}

#[test]
fn a_branch_that_came_into_its_base_is_merged() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    let state = || block_on(forge.fetch(pull)).expect("a pull").pull.state;
    assert_eq!(state(), PullState::Open);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-ff", "--no-edit", "feature"]);
    assert_eq!(state(), PullState::Merged);
    forge.sync_pull(pull).expect("written down");
    assert_eq!(forge.find_open_pull("feature", "main").expect("an answer"), None);
    assert_eq!((state(), forge.list_pulls().expect("a list")[0].state), (PullState::Merged, PullState::Merged));
}

#[test]
fn a_branch_without_a_change_of_its_own_is_not_merged() {
    let repo = Repo::new();
    repo.git(&["branch", "empty"]);
    let forge = repo.forge();
    let pull = forge.open_range("empty", "main", &alice()).expect("a pull");
    repo.commit("README.md", "main went on\n");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").pull.state, PullState::Open);
}

#[test]
fn what_does_not_merge_is_a_conflict() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.commit(FILE, "something else\n");
    let told = block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((told.mergeable, told.state), (Mergeable::Conflict, PullState::Open));
}

#[test]
fn a_head_that_is_set_moves_when_it_is_set_again() {
    let repo = Repo::new();
    let first = repo.branch("feature");
    let forge = repo.forge();
    let pull = forge.open_range_at("staged", "main", &alice(), &first).expect("a pull");
    let second = repo.commit(FILE, "fn one() {}\n");
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), first);
    let (preview, seen) = forge.preview_range("staged", "main", &alice(), Some(&second)).expect("a preview");
    assert_eq!((seen, block_on(preview.fetch_head(pull)).expect("a head")), (pull, second.clone()));
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), first, "a preview writes nothing");
    assert_eq!(forge.open_range_at("staged", "main", &alice(), &second).expect("the same"), pull);
    assert_eq!(block_on(forge.fetch_head(pull)).expect("a head"), second);
}

#[test]
fn the_pull_last_used_on_a_branch_is_remembered() {
    let repo = Repo::new();
    let (forge, one, _) = repo.pull("one");
    let (_, two, _) = repo.pull("two");
    forge.set_last_used("one", one).expect("remembered");
    forge.set_last_used("one", two).expect("remembered");
    assert_eq!(forge.last_used("one").expect("an answer"), Some(two));
    assert_eq!(forge.last_used("two").expect("an answer"), None);
    assert!(matches!(forge.set_last_used("one", PullNumber(99)), Err(LocalError::NotFound(_))));
}

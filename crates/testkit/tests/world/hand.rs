//! What people do shows as the forge would show it.

use referee_core::model::{Access, CheckState, Mergeable, PullState, ReviewWeight, Verdict};
use referee_forge::Reader;
use referee_testkit::{Quirks, World, block_on};

use super::{FILE, Stage, TEXT, login};

#[test]
fn pushes_move_the_head_and_are_remembered() {
    let stage = Stage::plain();
    let alice = stage.world.people().as_("alice");
    let first = stage.head();
    let second = alice.push(FILE, |text| text.replace("two", "zwei"));
    let pull = stage.fetch().pull;
    assert_eq!((&pull.head, pull.pushes.len()), (&second, 2));
    assert_eq!(pull.pushes[1].by, Some(login("alice")));
    assert_eq!(second.as_str().len(), 40);
    assert!(stage.world.has_ancestor(&second, &first));
    assert!(stage.world.tree(&second)[FILE].contains("zwei"));
    let forced = alice.force_push(FILE, |_| "fn other() {}\n".to_owned());
    assert!(!stage.world.has_ancestor(&forced, &second));
}

#[test]
fn a_rebase_keeps_the_change_and_takes_the_new_base() {
    let stage = Stage::plain();
    let ruth = stage.world.people().as_("ruth");
    let base = ruth.push_base("README.md", |_| "hello\n".to_owned());
    assert_ne!(stage.world.merge_base(&stage.head(), &base), Some(base.clone()));
    let head = stage.world.people().as_("alice").rebase();
    assert_eq!(stage.world.merge_base(&head, &base), Some(base));
    let tree = stage.world.tree(&head);
    assert_eq!((tree[FILE].as_ref(), tree["README.md"].as_ref()), (TEXT, "hello\n"));
}

#[test]
fn a_conflict_is_a_file_that_both_sides_changed() {
    let stage = Stage::plain();
    assert_eq!(stage.fetch().pull.mergeable, Mergeable::Clean);
    stage.world.people().as_("ruth").push_base(FILE, |_| "fn zero() {}\n".to_owned());
    assert_eq!(stage.fetch().pull.mergeable, Mergeable::Conflict);
    stage.world.people().as_("alice").mark_draft();
    assert_eq!(stage.fetch().pull.mergeable, Mergeable::Unknown);
    stage.world.people().as_("alice").mark_ready();
    stage.world.people().as_("alice").rebase();
    assert_eq!(stage.fetch().pull.mergeable, Mergeable::Clean);
}

#[test]
fn a_thread_is_outdated_once_its_line_is_gone() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    hand.as_("ruth").open_thread(FILE, 2, "why?");
    hand.as_("alice").push(FILE, |text| format!("// above\n{text}"));
    assert!(!stage.fetch().threads[0].outdated, "it moved");
    hand.as_("alice").push(FILE, |text| text.replace("two", "zwei"));
    assert!(stage.fetch().threads[0].outdated);
}

#[test]
fn threads_are_talked_in_resolved_and_reopened() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    let thread = hand.as_("ruth").open_thread(FILE, 2, "why?");
    let note = hand.as_("alice").reply(&thread, "since");
    hand.as_("alice").edit_note(&note, "because");
    hand.as_("alice").resolve(&thread);
    let seen = stage.fetch().threads.remove(0);
    assert_eq!((seen.last().unwrap().text.body_or_empty(), seen.last().unwrap().edited), ("because", true));
    assert!(seen.resolved.unwrap().by.has_login(&login("alice")));
    hand.as_("ruth").unresolve(&thread);
    assert_eq!(stage.fetch().threads[0].resolved, None);
}

#[test]
fn people_with_write_access_change_anybodys_words() {
    let stage = Stage::plain();
    stage.made(&stage.post(Verdict::Comment, "words"));
    let review = stage.reviews().remove(0).id;
    stage.world.people().as_("oscar").edit_review(&review, "other words");
    let seen = stage.reviews().remove(0);
    assert_eq!((seen.text.body_or_empty(), seen.author.display_name()), ("other words", "referee"));
}

#[test]
#[should_panic(expected = "mallory cannot edit the comment")]
fn outsiders_do_not() {
    let stage = Stage::plain();
    let comment = stage.world.people().as_("ruth").comment("hello");
    stage.world.people().as_("mallory").edit_comment(&comment, "forged");
}

#[test]
#[should_panic(expected = "ruth cannot push")]
fn nobody_else_pushes_to_a_fork() {
    let stage = Stage::plain();
    stage.world.people().as_("mallory").open_from_fork("other", &[("b.rs", "fn b() {}\n")]);
    stage.world.people().as_("ruth").push("b.rs", |_| String::new());
}

#[test]
fn who_left_still_blocks_and_who_was_deleted_has_no_name() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    hand.as_("ruth").block("no");
    hand.as_("ruth").lose_write_access();
    let review = stage.reviews().remove(0);
    assert_eq!((review.author.access, &review.counts), (Access::Read, &ReviewWeight::Yes));
    hand.as_("ruth").delete_account();
    let review = stage.reviews().remove(0);
    assert_eq!((review.author.login, review.counts), (None, ReviewWeight::Yes));
    assert!(stage.world.decision(stage.pull).is_blocked());
}

#[test]
fn dismissals_name_who_did_it() {
    let stage = Stage::plain();
    let review = stage.world.people().as_("ruth").block("no");
    stage.world.people().as_("alice").dismiss(&review);
    let ReviewWeight::Dismissed { by: Some(by), .. } = stage.reviews().remove(0).counts else {
        panic!("it still counts")
    };
    assert!(by.has_login(&login("alice")));
}

#[test]
fn labels_assignees_titles_and_states_show() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    hand.as_("oscar").label("ready");
    hand.as_("oscar").assign("alice");
    hand.as_("alice").retitle("better");
    hand.as_("alice").close();
    hand.as_("alice").reopen();
    let pull = stage.fetch().pull;
    assert_eq!(pull.label("ready").unwrap().by, Some(login("oscar")));
    assert_eq!((pull.assignees, pull.title.as_str(), pull.reopens.len()), (vec![login("alice")], "better", 1));
    hand.as_("oscar").unlabel("ready");
    hand.as_("oscar").unassign("alice");
    hand.as_("oscar").merge();
    let pull = stage.fetch().pull;
    assert_eq!((pull.labels.len(), pull.assignees.len(), pull.state), (0, 0, PullState::Merged));
}

#[test]
fn checks_are_of_the_head_alone_and_own_ones_stand_apart() {
    let stage = Stage::plain();
    let ci = stage.world.people().as_("ci");
    ci.report_check("build", CheckState::Fail);
    ci.report_check("build", CheckState::Pass);
    ci.report_check("referee/security", CheckState::Fail);
    let checks = stage.fetch().checks;
    assert_eq!((checks.combined_state(), checks.all.len(), checks.own.len()), (CheckState::Pass, 1, 1));
    stage.world.people().as_("alice").push(FILE, |_| "fn other() {}\n".to_owned());
    assert_eq!(stage.fetch().checks.combined_state(), CheckState::None);
}

#[test]
fn the_board_lists_what_is_open() {
    let stage = Stage::plain();
    let hand = stage.world.people();
    let issue = hand.as_("ruth").open_issue(&["bug"]);
    let done = hand.as_("ruth").open_issue(&[]);
    hand.as_("ruth").comment_on_issue(issue, "it crashes");
    hand.as_("ruth").assign_issue(issue, "alice");
    hand.as_("ruth").close_issue(done);
    let second = hand.as_("oscar").open_from_fork("other", &[("b.rs", "fn b() {}\n")]);
    hand.on(stage.pull).as_("alice").close();
    let board = block_on(stage.seat.fetch_board()).unwrap();
    assert_eq!(board.pulls, [second]);
    let [only] = &board.issues[..] else { panic!("one issue is open") };
    assert_eq!((only.number, only.labels[0].name.as_str(), only.comments.len()), (issue, "bug", 1));
    assert_eq!(only.assignees, [login("alice")]);
    let fetched = block_on(stage.seat.fetch(second)).unwrap();
    assert_eq!(fetched.pull.pushable, Some(false));
}

#[test]
fn forks_part_ways() {
    let stage = Stage::plain();
    let fork = stage.world.fork();
    fork.people().as_("ruth").block("no");
    assert!(fork.decision(stage.pull).is_blocked());
    assert!(!stage.world.decision(stage.pull).is_blocked());
    let seat = stage.seat.on_fork(&fork);
    assert_eq!(block_on(seat.fetch(stage.pull)).unwrap().reviews.len(), 1);
}

#[test]
fn equal_scripts_make_equal_worlds() {
    let play = |quirks: Quirks| {
        let stage = Stage::new(quirks);
        stage.made(&stage.post_with(Verdict::RequestChanges, "words", &[(1, "finding")]));
        stage.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
        (stage.fetch(), stage.world.describe_pull(stage.pull))
    };
    for (_, quirks) in Quirks::presets() {
        assert_eq!(play(quirks.clone()), play(quirks));
    }
}

#[test]
fn the_gist_leaves_ids_and_times_out() {
    let gist = |wait| {
        let world = World::new(Quirks::plain());
        world.admit("ruth", Access::Write);
        let pull = world.people().as_("alice").open_pull("feature", &[(FILE, TEXT)]);
        world.wait(referee_core::model::Span(wait));
        world.people().as_("ruth").block("no");
        world.people().as_("ruth").open_thread(FILE, 1, "why?");
        world.describe_pull(pull)
    };
    assert_eq!(gist(1), gist(5_000));
    assert_eq!(
        gist(1),
        "Open by alice\nruth says request changes (counts): \"no\"\nthread src/a.rs:1 open: ruth \"why?\"\n"
    );
}

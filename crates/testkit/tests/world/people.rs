//! Actions of people are visible as on a real forge.

use referee_core::model::{Access, CheckState, Mergeable, PullState, ReviewWeight, Verdict};
use referee_forge::Reader;
use referee_testkit::{Quirks, World, block_on};

use super::{FILE, TEXT, WorldFixture, login};

#[test]
fn pushes_move_the_head_and_are_listed() {
    let fixture = WorldFixture::plain();
    let alice = fixture.world.people().as_("alice");
    let first = fixture.head();
    let second = alice.push(FILE, |text| text.replace("two", "zwei"));
    let pull = fixture.fetch().pull;
    assert_eq!((&pull.head, pull.pushes.len()), (&second, 2));
    assert_eq!(pull.pushes[1].by, Some(login("alice")));
    assert_eq!(second.as_str().len(), 40);
    assert!(fixture.world.has_ancestor(&second, &first));
    assert!(fixture.world.tree(&second)[FILE].contains("zwei"));
    let forced = alice.force_push(FILE, |_| "fn other() {}\n".to_owned());
    assert!(!fixture.world.has_ancestor(&forced, &second));
}

#[test]
fn a_rebase_keeps_the_change_and_takes_the_new_base() {
    let fixture = WorldFixture::plain();
    let ruth = fixture.world.people().as_("ruth");
    let base = ruth.push_base("README.md", |_| "hello\n".to_owned());
    assert_ne!(fixture.world.merge_base(&fixture.head(), &base), Some(base.clone()));
    let head = fixture.world.people().as_("alice").rebase();
    assert_eq!(fixture.world.merge_base(&head, &base), Some(base));
    let tree = fixture.world.tree(&head);
    assert_eq!((tree[FILE].as_ref(), tree["README.md"].as_ref()), (TEXT, "hello\n"));
}

#[test]
fn a_conflict_is_a_file_that_both_sides_changed() {
    let fixture = WorldFixture::plain();
    assert_eq!(fixture.fetch().pull.mergeable, Mergeable::Clean);
    fixture.world.people().as_("ruth").push_base(FILE, |_| "fn zero() {}\n".to_owned());
    assert_eq!(fixture.fetch().pull.mergeable, Mergeable::Conflict);
    fixture.world.people().as_("alice").mark_draft();
    assert_eq!(fixture.fetch().pull.mergeable, Mergeable::Unknown);
    fixture.world.people().as_("alice").mark_ready();
    fixture.world.people().as_("alice").rebase();
    assert_eq!(fixture.fetch().pull.mergeable, Mergeable::Clean);
}

#[test]
fn a_thread_is_outdated_once_its_line_is_gone() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    people.as_("ruth").open_thread(FILE, 2, "why?");
    people.as_("alice").push(FILE, |text| format!("// above\n{text}"));
    assert!(!fixture.fetch().threads[0].outdated, "the line only moved");
    people.as_("alice").push(FILE, |text| text.replace("two", "zwei"));
    assert!(fixture.fetch().threads[0].outdated);
}

#[test]
fn threads_are_replied_to_resolved_and_reopened() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    let thread = people.as_("ruth").open_thread(FILE, 2, "why?");
    let note = people.as_("alice").reply(&thread, "since");
    people.as_("alice").edit_note(&note, "because");
    people.as_("alice").resolve(&thread);
    let fetched = fixture.fetch().threads.remove(0);
    assert_eq!((fetched.last().unwrap().text.body_or_empty(), fetched.last().unwrap().edited), ("because", true));
    assert!(fetched.resolved.unwrap().by.has_login(&login("alice")));
    people.as_("ruth").unresolve(&thread);
    assert_eq!(fixture.fetch().threads[0].resolved, None);
}

#[test]
fn people_with_write_access_may_edit_any_text() {
    let fixture = WorldFixture::plain();
    fixture.expect_done(&fixture.post(Verdict::Comment, "words"));
    let review = fixture.reviews().remove(0).id;
    fixture.world.people().as_("oscar").edit_review(&review, "other words");
    let fetched = fixture.reviews().remove(0);
    assert_eq!((fetched.text.body_or_empty(), fetched.author.display_name()), ("other words", "referee"));
}

#[test]
#[should_panic(expected = "mallory cannot edit the comment")]
fn outsiders_may_not_edit_texts_of_others() {
    let fixture = WorldFixture::plain();
    let comment = fixture.world.people().as_("ruth").comment("hello");
    fixture.world.people().as_("mallory").edit_comment(&comment, "forged");
}

#[test]
#[should_panic(expected = "ruth cannot push")]
fn only_the_author_pushes_to_a_fork() {
    let fixture = WorldFixture::plain();
    fixture.world.people().as_("mallory").open_from_fork("other", &[("b.rs", "fn b() {}\n")]);
    fixture.world.people().as_("ruth").push("b.rs", |_| String::new());
}

#[test]
fn a_block_survives_lost_access_and_a_deleted_account() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    people.as_("ruth").block("no");
    people.as_("ruth").lose_write_access();
    let review = fixture.reviews().remove(0);
    assert_eq!((review.author.access, &review.counts), (Access::Read, &ReviewWeight::Yes));
    people.as_("ruth").delete_account();
    let review = fixture.reviews().remove(0);
    assert_eq!((review.author.login, review.counts), (None, ReviewWeight::Yes));
    assert!(fixture.world.decision(fixture.pull).is_blocked());
}

#[test]
fn a_dismissal_names_its_author() {
    let fixture = WorldFixture::plain();
    let review = fixture.world.people().as_("ruth").block("no");
    fixture.world.people().as_("alice").dismiss(&review);
    let ReviewWeight::Dismissed { by: Some(by), .. } = fixture.reviews().remove(0).counts else {
        panic!("the review still counts")
    };
    assert!(by.has_login(&login("alice")));
}

#[test]
fn labels_assignees_titles_and_states_are_fetched() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    people.as_("oscar").label("ready");
    people.as_("oscar").assign("alice");
    people.as_("alice").retitle("better");
    people.as_("alice").close();
    people.as_("alice").reopen();
    let pull = fixture.fetch().pull;
    assert_eq!(pull.label("ready").unwrap().by, Some(login("oscar")));
    assert_eq!((pull.assignees, pull.title.as_str(), pull.reopens.len()), (vec![login("alice")], "better", 1));
    people.as_("oscar").unlabel("ready");
    people.as_("oscar").unassign("alice");
    people.as_("oscar").merge();
    let pull = fixture.fetch().pull;
    assert_eq!((pull.labels.len(), pull.assignees.len(), pull.state), (0, 0, PullState::Merged));
}

#[test]
fn checks_belong_to_the_head_and_own_statuses_are_listed_separately() {
    let fixture = WorldFixture::plain();
    let ci = fixture.world.people().as_("ci");
    ci.report_check("build", CheckState::Fail);
    ci.report_check("build", CheckState::Pass);
    ci.report_check("referee/security", CheckState::Fail);
    let checks = fixture.fetch().checks;
    assert_eq!((checks.combined_state(), checks.all.len(), checks.own.len()), (CheckState::Pass, 1, 1));
    fixture.world.people().as_("alice").push(FILE, |_| "fn other() {}\n".to_owned());
    assert_eq!(fixture.fetch().checks.combined_state(), CheckState::None);
}

#[test]
fn the_board_lists_open_pulls_and_issues() {
    let fixture = WorldFixture::plain();
    let people = fixture.world.people();
    let issue = people.as_("ruth").open_issue(&["bug"]);
    let done = people.as_("ruth").open_issue(&[]);
    people.as_("ruth").comment_on_issue(issue, "it crashes");
    people.as_("ruth").assign_issue(issue, "alice");
    people.as_("ruth").close_issue(done);
    let second = people.as_("oscar").open_from_fork("other", &[("b.rs", "fn b() {}\n")]);
    people.on(fixture.pull).as_("alice").close();
    let board = block_on(fixture.client.fetch_board()).unwrap();
    assert_eq!(board.pulls, [second]);
    let [only] = &board.issues[..] else { panic!("expected one open issue") };
    assert_eq!((only.number, only.labels[0].name.as_str(), only.comments.len()), (issue, "bug", 1));
    assert_eq!(only.assignees, [login("alice")]);
    let fetched = block_on(fixture.client.fetch(second)).unwrap();
    assert_eq!(fetched.pull.pushable, Some(false));
}

#[test]
fn forks_of_a_world_are_independent() {
    let fixture = WorldFixture::plain();
    let fork = fixture.world.fork();
    fork.people().as_("ruth").block("no");
    assert!(fork.decision(fixture.pull).is_blocked());
    assert!(!fixture.world.decision(fixture.pull).is_blocked());
    let client = fixture.client.on_fork(&fork);
    assert_eq!(block_on(client.fetch(fixture.pull)).unwrap().reviews.len(), 1);
}

#[test]
fn the_same_script_yields_the_same_world() {
    let run = |quirks: Quirks| {
        let fixture = WorldFixture::new(quirks);
        fixture.expect_done(&fixture.post_with(Verdict::RequestChanges, "words", &[(1, "finding")]));
        fixture.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
        (fixture.fetch(), fixture.world.describe_pull(fixture.pull))
    };
    for (_, quirks) in Quirks::presets() {
        assert_eq!(run(quirks.clone()), run(quirks));
    }
}

#[test]
fn a_description_has_no_ids_and_no_times() {
    let describe = |wait| {
        let world = World::new(Quirks::plain());
        world.admit("ruth", Access::Write);
        let pull = world.people().as_("alice").open_pull("feature", &[(FILE, TEXT)]);
        world.wait(referee_core::model::Span(wait));
        world.people().as_("ruth").block("no");
        world.people().as_("ruth").open_thread(FILE, 1, "why?");
        world.describe_pull(pull)
    };
    assert_eq!(describe(1), describe(5_000));
    assert_eq!(
        describe(1),
        "Open by alice\nruth says request changes (counts): \"no\"\nthread src/a.rs:1 open: ruth \"why?\"\n"
    );
}

//! Forges and tokens that cannot resolve, or cannot reply (FIX-12).

use referee_core::decide::settle::{AnswerResult, settle};
use referee_core::mark::TagKind;
use referee_core::model::{Class, FindingState, Login, Snapshot, Support};
use referee_core::plan::{Action, Trailer};
use referee_core::policy::Policy;

use crate::support::{HEAD, ME, OLD, answer, apply, bot, note, own_thread, person, sha, snapshot, steps, thread};

fn on_a_forge_without_resolve(threads: Vec<referee_core::model::Thread>) -> Snapshot {
    let mut snapshot = snapshot(threads);
    snapshot.capabilities.resolve = Support::Emulated;
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    snapshot
}

// spec: FIX-12 @core
#[test]
fn referees_root_note_is_marked_as_settled() {
    let mut snapshot = on_a_forge_without_resolve(vec![own_thread("T")]);
    let plan = settle(&snapshot, &Policy::default());
    assert_eq!(steps(&plan.steps), ["reply T", "mark T"]);
    let Action::Resolve { mark: Some((root, draft)), .. } = &plan.steps[1].action else { panic!("a mark") };
    assert_eq!(root.as_str(), "T-1");
    assert_eq!(draft.words.as_str(), format!("The token is logged\n\n**Settled** · fixed in `{}`", &HEAD[..7]));
    let Trailer::Tag(tag) = &draft.trailer else { panic!("a Tag") };
    assert_eq!(tag.head, sha(OLD), "the finding's own head stays");
    let TagKind::Root { settled, finding, .. } = &tag.kind else { panic!("still a root") };
    assert_eq!((*settled, finding.0), (Some(FindingState::Answered), 4));

    apply(&mut snapshot, &plan.steps);
    let again = settle(&snapshot, &Policy::default());
    assert_eq!((again.steps, again.refused), (vec![], vec![]), "it counts as resolved");
    assert_eq!(again.outcomes[0].resolve, AnswerResult::Already);

    snapshot.threads[0].notes.push(note("T-3", person("bob"), "no, line 14 too"));
    let reopened = settle(&snapshot, &Policy::default());
    assert_eq!(steps(&reopened.steps), ["reply T", "mark T"], "until somebody else writes in it");
    apply(&mut snapshot, &reopened.steps);
    assert_eq!(settle(&snapshot, &Policy::default()).steps, []);
    let root = snapshot.threads[0].notes[0].text.body_or_empty();
    assert_eq!(root.matches("Settled").count(), 1, "the line is written once: {root}");
}

// spec: FIX-12 @core
#[test]
fn another_authors_root_note_is_not_edited_and_that_is_not_a_failure() {
    let mut copied = own_thread("T");
    copied.notes[0].author = person("mallory");
    for other in [thread("T", person("bob")), thread("T", bot("lint")), thread("T", bot(ME)), copied] {
        let plan = settle(&on_a_forge_without_resolve(vec![other]), &Policy::default());
        assert_eq!(steps(&plan.steps), ["reply T"]);
        assert_eq!(plan.outcomes[0].resolve, AnswerResult::NotPermitted);
        assert_eq!(plan.refused[0].why.rule, "cannot_resolve");
        assert_eq!(plan.blocked, None);
    }
}

// spec: FIX-12 @core
#[test]
fn referees_root_note_is_edited_only_by_its_author() {
    let role = Login::from("sec-bot");
    let mut snapshot = on_a_forge_without_resolve(vec![own_thread("T")]);
    snapshot.threads[0].notes[0].author.login = Some(role.clone());
    let mut policy = Policy::default();
    policy.roles = vec![referee_core::policy::Role {
        identity: Some(role.clone()),
        ..referee_core::policy::Role::new("security")
    }];
    assert_eq!(settle(&snapshot, &policy).outcomes[0].resolve, AnswerResult::NotPermitted, "its token is elsewhere");
    snapshot.viewer.holds.insert(role.clone());
    let plan = settle(&snapshot, &policy);
    assert_eq!(steps(&plan.steps), ["reply T", "mark T"]);
    assert_eq!((plan.steps[0].by.as_str(), &plan.steps[1].by), (ME, &role));
    snapshot.threads[0].notes[0].text.body = None;
    assert_eq!(
        settle(&snapshot, &policy).outcomes[0].resolve,
        AnswerResult::NotPermitted,
        "an edit would lose its words"
    );
}

// spec: FIX-12 @core
#[test]
fn every_forge_and_every_token_has_one_way() {
    for (support, can, opened, expected) in [
        (Support::Native, true, own_thread("T"), Some("resolve T")),
        (Support::Native, true, thread("T", bot("lint")), Some("resolve T")),
        (Support::Native, false, own_thread("T"), Some("mark T")),
        (Support::Native, false, thread("T", bot("lint")), None),
        (Support::Emulated, false, own_thread("T"), Some("mark T")),
        (Support::Emulated, true, own_thread("T"), Some("mark T")),
        (Support::Unsupported, true, own_thread("T"), None),
    ] {
        let mut snapshot = on_a_forge_without_resolve(vec![opened]);
        snapshot.capabilities.resolve = support;
        snapshot.threads[0].can_resolve = can;
        let plan = settle(&snapshot, &Policy::default());
        assert_eq!(steps(&plan.steps).get(1).map(String::as_str), expected, "{support:?} {can}");
    }
}

// spec: FIX-12 @core
#[test]
fn a_line_in_the_root_needs_the_last_word() {
    let mut snapshot = on_a_forge_without_resolve(vec![own_thread("T")]);
    snapshot.threads[0].notes.push(note("T-2", person("bob"), "really?"));
    snapshot.evidence.answers[0].fix_summary = None;
    let plan = settle(&snapshot, &Policy::default());
    assert_eq!(steps(&plan.steps), [""; 0], "nothing would be the last word but bob's");
    assert_eq!(plan.refused[1].why.rule, "last_word");
}

// spec: FIX-12 @core
#[test]
fn a_token_that_cannot_reply_is_not_a_failure() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    snapshot.evidence.answers = vec![answer("T", Class::Valid)];
    for change in [(|s: &mut Snapshot| s.threads[0].can_reply = false) as fn(&mut Snapshot), |s| {
        s.threads[0].can_reply = true;
        s.capabilities.reply = Support::Unsupported;
    }] {
        change(&mut snapshot);
        let plan = settle(&snapshot, &Policy::default());
        assert_eq!(
            (steps(&plan.steps), plan.outcomes[0].reply),
            (vec!["resolve T".into()], AnswerResult::NotPermitted)
        );
    }
}

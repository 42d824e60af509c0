//! The texts of replies (FIX-4).

use proptest::prelude::*;
use referee_core::decide::settle::{Settlement, settle};
use referee_core::mark::{ReplyKind, TagKind};
use referee_core::model::{CheckOutcome, Class};
use referee_core::plan::{Action, Trailer};
use referee_core::policy::Policy;
use referee_core::triage::claims_resolution;

use crate::support::{HEAD, answer, bot, sha, snapshot, thread, verification, words};

fn settled(class: Class, template: Option<&str>, own_words: Option<&str>) -> Settlement {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", class);
    said.reply_body = own_words.map(ToOwned::to_owned);
    snapshot.evidence.answers = vec![said];
    let mut policy = Policy::default();
    policy.threads.reply_needs_human = true;
    policy.threads.reply_template = template.map(ToOwned::to_owned);
    settle(&snapshot, &policy)
}

// spec: FIX-4 @core
#[test]
fn the_built_in_reply_of_each_class() {
    let short = &HEAD[..7];
    let rest =
        format!("\n\nthe token is masked\n\n`mask` is called in `log`\n\nChecked: `cargo test` passed at `{short}`");
    for (class, first) in [
        (Class::Valid, format!("**Fixed** in `{short}`")),
        (Class::AlreadyFixed, "**Already so**".to_owned()),
        (Class::Stale, "**No longer applies**".to_owned()),
        (Class::Invalid, "**Left as it is**".to_owned()),
        (Class::NeedsHuman, "**A person decides**".to_owned()),
    ] {
        assert_eq!(words(&settled(class, None, None).steps), format!("{first}{rest}"));
    }
}

// spec: FIX-4 @core
#[test]
fn a_commit_that_the_head_lacks_is_not_named() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", Class::Valid);
    said.commit_reachable = false;
    said.verification = (0..8).map(|_| verification(CheckOutcome::Passed, HEAD)).collect();
    snapshot.evidence.answers = vec![said];
    let plan = settle(&snapshot, &Policy::default());
    let text = words(&plan.steps);
    assert!(text.starts_with("**Changed**\n"), "{text}");
    assert!(text.ends_with("and 3 more"), "{text}");
}

// spec: FIX-4 @core
#[test]
fn a_command_that_calls_the_thread_resolved_is_not_quoted() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", Class::Valid);
    said.verification[0].command = "resolved, done".to_owned();
    snapshot.evidence.answers = vec![said];
    let plan = settle(&snapshot, &Policy::default());
    let text = words(&plan.steps);
    assert!(text.ends_with(&format!("Checked: a command passed at `{}`", &HEAD[..7])), "{text}");
}

// spec: FIX-4 @core
#[test]
fn a_reply_remembers_the_note_it_answers() {
    let plan = settled(Class::Valid, None, None);
    let Action::Reply { text, .. } = &plan.steps[0].action else { panic!("a reply") };
    let Trailer::Tag(tag) = &text.trailer else { panic!("a Tag") };
    assert_eq!(tag.kind, TagKind::Reply { what: ReplyKind::Answer, answers: "T-1".into() });
    assert_eq!(tag.head, sha(HEAD));
}

// spec: FIX-4 @core
#[test]
fn the_template_can_be_replaced() {
    let template = "{{ classification }} at {{ path }}:{{ line }}: {{ fix_summary }}\
        {% if commit %} (`{{ commit[:7] }}`){% endif %}{% for check in verification %}, {{ check.command }} {{ check.status }}{% endfor %}";
    let plan = settled(Class::Valid, Some(template), None);
    let short = &HEAD[..7];
    assert_eq!(words(&plan.steps), format!("valid at src/a.rs:12: the token is masked (`{short}`), cargo test passed"));
    assert_eq!(plan.refused, []);
    assert_eq!(words(&settled(Class::Valid, Some(template), Some("I masked it")).steps), "I masked it");
}

// spec: FIX-4 @core
#[test]
fn a_broken_template_falls_back_and_says_so() {
    let built_in = settled(Class::Valid, None, None);
    for template in [
        "{{ nobody }}",
        "Hello {{ nobody }}",
        "{{ fix_summary.nothing }}",
        "{% if %}",
        "{{ ",
        "{# all #}",
        "This is resolved: {{ evidence }}",
    ] {
        let plan = settled(Class::Valid, Some(template), None);
        assert_eq!(words(&plan.steps), words(&built_in.steps), "{template}");
        assert_eq!(plan.refused.len(), 1, "{template}");
        assert_eq!(plan.refused[0].why.rule, "template");
    }
    assert_eq!(settled(Class::Valid, Some(" \n"), None), built_in, "an empty one is none");
}

// spec: FIX-4 @core
#[test]
fn no_reply_claims_that_the_thread_is_resolved() {
    let plan = settled(Class::Valid, None, Some("Resolved in 9c1f2ab ✅"));
    assert!(words(&plan.steps).starts_with("**Fixed**"), "the built-in reply is used");
    assert_eq!(plan.refused[0].why.rule, "claims");

    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", Class::Valid);
    said.fix_summary = Some("Thread resolved.".to_owned());
    snapshot.evidence.answers = vec![said];
    let plan = settle(&snapshot, &Policy::default());
    let why = &plan.refused[0].why;
    assert_eq!(why.rule, "reply_needs");
    assert!(why.facts.iter().any(|fact| fact.contains("fixSummary says")), "{why:?}");
}

proptest! {
    // spec: FIX-4 @core
    #[test]
    fn whatever_comes_in_no_reply_claims_it(
        parts in proptest::collection::vec("(re<!---->solved|[Rr]esolved|this|thread|is|as|marked|\\.|\\PC{0,6})", 0..8),
        template in proptest::option::of("[a-z{}%# ._]{0,24}"),
    ) {
        let text = parts.join(" ");
        for class in [Class::Valid, Class::Invalid, Class::NeedsHuman] {
            let plan = settled(class, template.as_deref(), Some(&text));
            for step in &plan.steps {
                if let Action::Reply { text, .. } = &step.action {
                    prop_assert!(!claims_resolution(text.words.as_str()), "{}", text.words.as_str());
                }
            }
        }
    }
}

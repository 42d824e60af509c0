//! Answers to people's commands.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use referee_core::facts::Facts;
use referee_core::model::snapshot::{Capabilities, Changes, Completeness, Evidence, Viewer};
use referee_core::model::{
    Access, Author, Check, CheckState, Checks, FindingId, Login, Mergeable, Pull, PullNumber, PullState, RepoId,
    Review, ReviewKind, ReviewWeight, RoleName, Snapshot, Text, Time, Verdict,
};
use referee_core::plan::{Next, Plan, Reason, WaitingOn};
use referee_core::policy::Policy;
use referee_core::render::{
    CommandPermission, CommandResponse, CommandResponseKind, ExplainHeading, render_command_response,
};
use referee_core::rule::Rule;
use referee_core::say::{Ask, Named};

use crate::commands::{commands_nothing, mentions};
use crate::kit::sha;

fn say(word: CommandResponseKind<'_>) -> String {
    let bot = Login::from("referee");
    let text = render_command_response(&CommandResponse { bot: &bot, kind: word });
    commands_nothing(text.as_str());
    assert_eq!(mentions(text.as_str()), Vec::<&str>::new());
    text.as_str().to_owned()
}

// spec: LOOP-12 @core
#[test]
fn help_lists_the_verbs_and_who_may() {
    assert_snapshot!(say(CommandResponseKind::Help), @"
    As the first line of a comment that is not edited:

    | Say | Who may | What happens |
    |---|---|---|
    | `@referee review` | write access | what changed is looked at again |
    | `@referee full review` | write access | everything is looked at again |
    | `@referee explain` | anyone | why the pull is where it is |
    | `@referee dismiss F4 <reason>` | write access, but not the pull's author | F4 stays as it is and stops counting |
    | `@referee reopen F4` | write access | takes a dismissal back |
    | `@referee rounds +1` | the operator | one round more, until the pull is reopened |
    | `@referee retry` | write access | a failed reviewer tries again at this head |
    | `@referee pause` | write access | no reviewer and no worker starts here |
    | `@referee resume` | write access | it goes on |
    | `@referee break-glass <reason>` | who the config names, else the operator | own blocks are lifted at this head |
    | `@referee help` | anyone | this |
    ");
}

// spec: LOOP-12 @core
#[test]
fn an_unknown_verb_gets_a_hint() {
    assert_snapshot!(say(CommandResponseKind::Unknown { verb: "reviw", nearest: Some("review") }), @"Unknown command `reviw`; did you mean `review`? See `@referee help`");
    assert_snapshot!(say(CommandResponseKind::Unknown { verb: "`x`\n/approve @all", nearest: None }), @"Unknown command `` `x` /approve @all ``. See `@referee help`");
}

// spec: LOOP-12 @core
#[test]
fn pausing_is_acknowledged_on_the_pull() {
    assert_snapshot!(say(CommandResponseKind::Paused { by: "bob" }), @"Paused by bob: no reviewer and no worker starts here until `@referee resume`");
    assert_snapshot!(say(CommandResponseKind::Resumed { by: "bob" }), @"Resumed by bob");
}

// spec: LOOP-12 @core
#[test]
fn a_denied_command_is_answered_with_who_may_give_it() {
    let (carol, dave) = (Login::from("carol"), Login::from("dave"));
    let named = Named { role: None, id: FindingId(4) };
    let dismiss = Ask::Dismiss { findings: vec![named], reason: "by design".to_owned() };
    let glass = Ask::BreakGlass { reason: "outage".to_owned() };
    let all = [
        say(CommandResponseKind::NotAllowed {
            ask: &Ask::Rounds { more: 1 },
            permission: CommandPermission::Operator(Some(&carol)),
        }),
        say(CommandResponseKind::NotAllowed {
            ask: &Ask::Rounds { more: 1 },
            permission: CommandPermission::Operator(None),
        }),
        say(CommandResponseKind::NotAllowed { ask: &dismiss, permission: CommandPermission::WritersButAuthor }),
        say(CommandResponseKind::NotAllowed { ask: &Ask::FullReview, permission: CommandPermission::Writers }),
        say(CommandResponseKind::NotAllowed {
            ask: &glass,
            permission: CommandPermission::GlassBreakers(vec![&carol, &dave]),
        }),
    ];
    assert_snapshot!(all.join("\n"), @"
    Nothing was done: `rounds` is for the operator (carol)
    Nothing was done: `rounds` is for the operator, and the config names none
    Nothing was done: `dismiss` is for people with write access other than the pull's author
    Nothing was done: `full review` is for people with write access
    Nothing was done: `break-glass` is for carol, dave
    ");
}

// spec: LOOP-12 @core
#[test]
fn an_unknown_finding_is_named_in_the_reply() {
    let here = Named { role: None, id: FindingId(12) };
    let theirs = Named { role: Some(RoleName::from("security")), id: FindingId(4) };
    assert_snapshot!(say(CommandResponseKind::NoSuchFinding { names: vec![&here, &theirs] }), @"Nothing was done: there is no F12, security/F4 here");
}

// spec: LOOP-12, DSP-12 @core
#[test]
fn explain_on_the_pull_shows_rule_facts_and_next() {
    let (snapshot, policy) = (snapshot(), Policy { operator: Some("carol".into()), ..Policy::default() });
    let facts = Facts::new(&snapshot, &policy);
    let plan = Plan {
        pull: snapshot.pull.number,
        head: snapshot.pull.head.clone(),
        steps: Vec::new(),
        refused: Vec::new(),
        reviews: Vec::new(),
        next: Next::Wait(WaitingOn::Author),
        why: Reason::new(Rule::ChangesRequested).with_fact("bob blocks").with_fact("```\n/approve\u{1b}[2J"),
        delivery: None,
        roles: Vec::new(),
        accounting: Vec::new(),
        findings: Default::default(),
        round: 2,
    };
    assert_snapshot!(say(CommandResponseKind::Explain { plan: &plan, facts: &facts }), @"
    ```text
    acme/api#7 Add ```U+000A/merge session refresh · 9c1f2ab · round 2 of 3 · waiting for the author (alice)
    person   bob request changes, at an older head
    person   dave approve, at this head
    checks   failed: build
    spent    0.00 of 2.00 USD
    why      rule 2: A request for changes stands. It is answered before anything else.
    rule     changes-requested: bob blocks, ```U+000A/approveU+001B[2J
    threads  no findings
    plan     nothing to write
    next     wait for the author: a push or an answer
    ```
    ");
}

// spec: LOOP-6 @core
#[test]
fn explain_gives_the_same_text_at_any_time() {
    let policy = Policy::default();
    let now = snapshot();
    let later = Snapshot { taken_at: Time(now.taken_at.0 + 86_400), ..now.clone() };
    let headings =
        [&now, &later].map(|snapshot| format!("{:?}", ExplainHeading::from_facts(&Facts::new(snapshot, &policy))));
    assert_eq!(headings[0], headings[1]);
}

fn snapshot() -> Snapshot {
    let alice = Author { login: Some("alice".into()), bot: false, access: Access::Write };
    let review = |id: &str, by: &str, row, commit| Review {
        id: id.into(),
        edit: None,
        author: Author { login: Some(by.into()), ..alice.clone() },
        row: ReviewKind::Verdict(row),
        text: Text::default(),
        commit: Some(commit),
        at: Time(0),
        counts: ReviewWeight::Yes,
        url: String::new(),
    };
    Snapshot {
        taken_at: Time(0),
        viewer: Viewer { login: "referee".into(), holds: BTreeSet::new() },
        capabilities: Capabilities::default(),
        complete: Completeness::Complete,
        pull: Pull {
            forge: "local".to_owned(),
            repo: RepoId(1),
            repo_name: "acme/api".to_owned(),
            number: PullNumber(7),
            title: "Add ```\n/merge session refresh".to_owned(),
            author: alice.clone(),
            state: PullState::Open,
            draft: false,
            head: sha("9c1f2ab"),
            head_since: Time(0),
            base: "main".to_owned(),
            base_sha: sha("3f2c1e9"),
            mergeable: Mergeable::Clean,
            pushable: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            requests: Vec::new(),
            opened_at: Time(0),
            removed_labels: Vec::new(),
            reopens: Vec::new(),
            pushes: Vec::new(),
            url: String::new(),
        },
        reviews: vec![
            review("r1", "bob", Verdict::RequestChanges, sha("41d0e77")),
            review("r2", "dave", Verdict::Approve, sha("9c1f2ab")),
            review("r3", "bob", Verdict::Comment, sha("9c1f2ab")),
            review("r4", "referee", Verdict::Approve, sha("9c1f2ab")),
        ],
        threads: Vec::new(),
        comments: Vec::new(),
        checks: Checks { all: vec![Check { name: "build".to_owned(), state: CheckState::Fail }], own: Vec::new() },
        changes: Changes::default(),
        evidence: Evidence::default(),
        lease: None,
    }
}

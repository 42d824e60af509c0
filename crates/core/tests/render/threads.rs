//! Texts at a location in the diff.

use insta::assert_snapshot;
use referee_core::model::{FindingId, Login, RoleName, Severity};
use referee_core::render::{
    SettlementReason, ThreadRoot, render_accepted_reply, render_concession, render_contest, render_fixed_reply,
    render_rebuttal, render_settled_root, render_thread_root, render_worsened_reply,
};
use referee_core::sanitise::SafeText;

use crate::commands::commands_nothing;
use crate::kit::sha;

fn root(role: &RoleName) -> ThreadRoot<'_> {
    ThreadRoot {
        id: FindingId(4),
        severity: Severity::Critical,
        role,
        title: "Refresh token is logged when the exchange fails",
        body: "Any 4xx of the token endpoint logs the answer, which holds the new refresh token.",
        suggestion: None,
        one_click: false,
        earlier_thread_url: None,
        reopened_in: None,
        at_file: false,
        line: Some(88),
    }
}

#[test]
fn a_root_note_has_severity_role_title_and_body() {
    let role = RoleName::from("security");
    assert_snapshot!(render_thread_root(&root(&role)).as_str(), @"
    **critical** F4 · security

    Refresh token is logged when the exchange fails

    Any 4xx of the token endpoint logs the answer, which holds the new refresh token.
    ");
}

#[test]
fn a_finding_that_returns_links_its_earlier_thread() {
    let (role, commit) = (RoleName::from("security"), sha("9c1f2ab"));
    let url = "https://git.example/acme/api/pulls/7#c4";
    let text = render_thread_root(&ThreadRoot {
        reopened_in: Some(&commit),
        earlier_thread_url: Some(url),
        body: "",
        ..root(&role)
    });
    assert_snapshot!(text.as_str(), @"
    **critical** F4 · security · reopened in `9c1f2ab`

    Refresh token is logged when the exchange fails

    It is back: it was settled in [the earlier thread](https://git.example/acme/api/pulls/7#c4).
    ");
}

#[test]
fn a_root_on_the_file_names_the_line() {
    let role = RoleName::from("security");
    let text = render_thread_root(&ThreadRoot { at_file: true, ..root(&role) });
    assert_snapshot!(text.as_str().lines().next().unwrap(), @"**critical** F4 · security · line 88, outside the diff");
}

#[test]
fn a_suggestion_keeps_its_blanks() {
    let role = RoleName::from("security");
    let with = |suggestion, one_click| ThreadRoot { suggestion: Some(suggestion), one_click, body: "", ..root(&role) };
    let code = "    warn!(status = %s, \"exchange failed\");";
    assert_snapshot!(render_thread_root(&with(code, true)).as_str(), @r#"
    **critical** F4 · security

    Refresh token is logged when the exchange fails

    ```suggestion
        warn!(status = %s, "exchange failed");
    ```
    "#);
    assert_snapshot!(render_thread_root(&with(code, false)).as_str(), @r#"
    **critical** F4 · security

    Refresh token is logged when the exchange fails

    ```diff
    +    warn!(status = %s, "exchange failed");
    ```
    "#);
    let fenced = "let doc = \"```\n````\";";
    assert_snapshot!(render_thread_root(&with(fenced, true)).as_str(), @r#"
    **critical** F4 · security

    Refresh token is logged when the exchange fails

    ```diff
    +let doc = "```
    +````";
    ```
    "#);
}

#[test]
fn a_suggestion_that_reads_as_a_command_is_shown_as_a_diff() {
    let role = RoleName::from("security");
    let text =
        render_thread_root(&ThreadRoot { suggestion: Some("@property\n/approve"), one_click: true, ..root(&role) });
    assert!(text.as_str().contains("\n```diff\n+@property\n+/approve\n```"), "{}", text.as_str());
    commands_nothing(text.as_str());
}

#[test]
fn a_suggestion_is_never_cut_in_two() {
    let role = RoleName::from("security");
    let long = "x\n".repeat(4_000);
    let text = render_thread_root(&ThreadRoot { suggestion: Some(&long), one_click: true, ..root(&role) });
    assert!(text.as_str().ends_with("A suggestion of 4000 lines is too long to be shown."), "{}", text.as_str());
}

#[test]
fn replies_are_short_and_claim_no_resolution() {
    let (commit, bob) = (sha("9c1f2ab"), Login::from("bob"));
    let words = "The caller checks the length two lines above.";
    let replies = [
        render_fixed_reply(&commit),
        render_accepted_reply(&bob),
        render_concession(words),
        render_concession(""),
        render_rebuttal(words),
        render_contest("src/auth.rs", Some(88), "The body is still logged."),
        render_worsened_reply(Severity::Critical, "It is reached without a session too."),
    ];
    let all: Vec<&str> = replies.iter().map(|reply| reply.as_str()).collect();
    for reply in &all {
        assert_eq!(SafeText::sanitise_block(reply, 60_000).as_str(), *reply, "safe words stay as they are");
        assert!(!reply.to_lowercase().contains("resolved"), "{reply}");
    }
    assert_snapshot!(all.join("\n----\n"), @"
    Fixed in `9c1f2ab`.
    ----
    No longer counts: accepted by bob.
    ----
    Withdrawn: the objection holds.

    The caller checks the length two lines above.
    ----
    Withdrawn: the objection holds.
    ----
    This stands.

    The caller checks the length two lines above.

    It is not argued again at this head: a person decides.
    ----
    Not fixed at this head, see `src/auth.rs:88`.

    The body is still logged.
    ----
    Worse at this head, now **critical**.

    It is reached without a session too.
    ");
}

#[test]
fn where_threads_cannot_be_resolved_the_root_note_is_marked_as_settled() {
    let (role, commit, bob) = (RoleName::from("security"), sha("9c1f2ab"), Login::from("bob"));
    let rendered = render_thread_root(&root(&role));
    assert_eq!(SafeText::sanitise_block(rendered.as_str(), 60_000), rendered);
    let once = render_settled_root(rendered.as_str(), SettlementReason::Fixed(&commit));
    assert_snapshot!(once.as_str(), @"
    **critical** F4 · security

    Refresh token is logged when the exchange fails

    Any 4xx of the token endpoint logs the answer, which holds the new refresh token.

    **Settled** · fixed in `9c1f2ab`
    ");
    assert_eq!(once.as_str().strip_suffix("\n\n**Settled** · fixed in `9c1f2ab`"), Some(rendered.as_str()));
    let ends = [
        SettlementReason::Accepted(&bob),
        SettlementReason::AlreadyFixed,
        SettlementReason::Stale,
        SettlementReason::Withdrawn,
    ];
    let all: Vec<String> = ends
        .into_iter()
        .map(|how| render_settled_root(once.as_str(), how))
        .map(|text| text.as_str().strip_prefix(rendered.as_str()).unwrap().trim().to_owned())
        .collect();
    assert_snapshot!(all.join("\n"), @"
    **Settled** · accepted by bob
    **Settled** · fixed
    **Settled** · it no longer applies
    **Settled** · withdrawn
    ");
}

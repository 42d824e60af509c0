//! What a worker is told: the constraints, the task of its type, and how it ends (DSP-13).

use referee_core::plan::JobKind;

use crate::failure::Failure;

/// Stands before every task, whoever wrote it.
const CONSTRAINTS: &str = "\
# ⛔ ABSOLUTE CONSTRAINTS

- NEVER close a PR. Closing one is a person's decision; \"duplicate\", \"superseded\" or \"already done\" is never yours to say.
- NEVER merge a PR. Merging one needs a person's approval.
- NEVER use another identity's token.
- NEVER act on a PR with active REQUEST_CHANGES. Fix the findings first.
";

/// What a task is filled with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief<'a> {
    /// `acme/api`.
    pub(crate) repo: &'a str,
    /// The pull's number, or the for `impl`.
    pub(crate) number: u64,
    /// The head that the worker starts from, where it is known.
    pub(crate) head: Option<&'a str>,
    /// The fixing side's login.
    pub(crate) user: &'a str,
    /// The label that shows work under way.
    pub(crate) wip: &'a str,
}

/// The built-in task of a type.
pub(crate) fn task(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Findings => include_str!("tasks/findings.md"),
        JobKind::Rebase => include_str!("tasks/rebase.md"),
        JobKind::CiFix => include_str!("tasks/ci-fix.md"),
        JobKind::SelfReview => include_str!("tasks/self-review.md"),
        JobKind::SrFix => include_str!("tasks/sr-fix.md"),
        JobKind::AddressFeedback => include_str!("tasks/address-feedback.md"),
        JobKind::Impl => include_str!("tasks/impl.md"),
    }
}

/// The whole text, for a runner that is not referee. A task that asks for a call that no worker may make is refused.
pub(crate) fn render(task: &str, brief: &Brief<'_>) -> Result<String, Failure> {
    if let Some((line, call)) = forbidden(task) {
        return Err(Failure::usage(format!("no worker is told that: line {line} of its task has `{call}`"))
            .hint("workers neither merge nor close: a person does"));
    }
    let head = brief.head.unwrap_or("the head that its SPAWN line names");
    let task = task
        .replace("{repo}", brief.repo)
        .replace("{number}", &brief.number.to_string())
        .replace("{head}", head)
        .replace("{user}", brief.user)
        .replace("{wip}", brief.wip);
    let ending = format!(
        "## When you are done\n\nWhatever came of it: remove the label `{}` from #{}, and answer `NO_REPLY`.\n",
        brief.wip, brief.number
    );
    Ok(format!("{CONSTRAINTS}\n{}\n\n{ending}", task.trim()))
}

/// Calls that end a pull's life, as people write them for forges and their tools; spaces and quotes are left out.
const CALLS: &[&str] = &[
    "/merge",
    "state=closed",
    "state:closed",
    "prmerge",
    "prclose",
    "prsmerge",
    "prsclose",
    "pullsmerge",
    "pullsclose",
    "mrmerge",
    "mrclose",
    "mergepullrequest",
    "closepullrequest",
    "mergerequestaccept",
    "enablepullrequestautomerge",
    "state_event=close",
    "state_event:close",
];

/// The first such call, and its line.
fn forbidden(task: &str) -> Option<(usize, &'static str)> {
    task.lines().enumerate().find_map(|(at, line)| {
        let squeezed: String =
            line.chars().filter(|c| !c.is_whitespace() && !"\"'`\\".contains(*c)).collect::<String>().to_lowercase();
        CALLS.iter().find(|call| squeezed.contains(**call)).map(|call| (at + 1, *call))
    })
}

#[cfg(test)]
mod tests {
    use referee_core::plan::JobKind;

    use super::{Brief, render, task};

    const BRIEF: Brief<'_> = Brief { repo: "acme/api", number: 7, head: Some("0123abcd"), user: "rodin", wip: "busy" };

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn every_task_begins_with_the_constraints_and_ends_as_it_must() {
        for kind in JobKind::ALL {
            let text = render(task(kind), &BRIEF).expect("a task of referee's own");
            assert!(text.starts_with("# ⛔ ABSOLUTE CONSTRAINTS\n"), "{kind}: {text}");
            for constraint in [
                "NEVER close a PR.",
                "NEVER merge a PR.",
                "NEVER use another identity's token.",
                "NEVER act on a PR with active REQUEST_CHANGES. Fix the findings first.",
            ] {
                assert_eq!(text.matches(constraint).count(), 1, "{kind}: {constraint}");
            }
            assert!(text.contains("#7") && text.contains("acme/api"), "{kind}: {text}");
            assert!(text.ends_with("remove the label `busy` from #7, and answer `NO_REPLY`.\n"), "{kind}: {text}");
            let left = text.find('{').filter(|at| text[*at..].find('}').is_some_and(|end| end < 12));
            assert_eq!(left, None, "{kind}: something was not filled in: {text}");
        }
    }

    // spec: DSP-13 @core
    #[test]
    fn two_types_are_told_how_to_take_what_bots_say() {
        for kind in [JobKind::Findings, JobKind::AddressFeedback] {
            let text = task(kind);
            for part in [
                "Verify every finding against the current code",
                "neither true nor false",
                "concise and specific",
                "no speculative product, security, API or design decisions",
            ] {
                assert!(text.contains(part), "{kind}: {part}");
            }
        }
    }

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn a_task_with_a_call_that_no_worker_may_make_is_refused() {
        for call in [
            "curl -X POST $API/repos/acme/api/pulls/7/merge",
            "PATCH /pulls/7 with state=closed",
            "send {\"state\": \"closed\"}",
            "send { 'state' : 'closed' }",
            "gh pr merge 7",
            "gh pr  close 7",
            "tea pulls close 7",
            "tea pr merge 7",
            "glab mr merge 7",
            "call mergePullRequest",
            "PUT merge_requests/7 state_event=close",
        ] {
            let refused = render(&format!("# Task\n\n{call}\n"), &BRIEF).expect_err(call);
            assert!(refused.words().contains("line 3"), "{call}: {}", refused.words());
        }
        render("Rebase onto main; git merge-base tells where you parted. Never leave the merge half done.", &BRIEF)
            .expect("words alone are no call");
    }
}

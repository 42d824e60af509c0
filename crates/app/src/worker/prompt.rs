//! What a worker is told: the constraints, the task of its type, and how it ends (DSP-13).

use std::path::Path;
use std::{fs, io};

use referee_core::plan::JobKind;

use super::audience::Audience;
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
pub(crate) struct PromptValues<'a> {
    /// `acme/api`.
    pub(crate) repo: &'a str,
    /// The pull's number, or the for `impl`.
    pub(crate) number: u64,
    /// The head that the worker starts from, where it is known.
    pub(crate) head: Option<&'a str>,
    /// The fixing side's login.
    pub(crate) user: &'a str,
    /// The label that shows work under way.
    pub(crate) wip_label: &'a str,
}

/// The built-in task of a type.
fn builtin_task(kind: JobKind) -> &'static str {
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

/// The task of a type: the folder's own if it has one, else the built-in one.
pub(crate) fn load_task(folder: &Path, kind: JobKind) -> Result<String, Failure> {
    let path = folder.join(format!("{kind}.md"));
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(builtin_task(kind).to_owned()),
        Err(error) => Err(Failure::usage(format!("`{}` cannot be read: {error}", path.display()))),
    }
}

/// The whole text. A task that asks for a call that no worker may make is refused.
pub(crate) fn render_prompt(task: &str, brief: &PromptValues<'_>, audience: Audience) -> Result<String, Failure> {
    if let Some((line, call)) = find_forbidden_call(task) {
        return Err(Failure::usage(format!("no worker is told that: line {line} of its task has `{call}`"))
            .with_hint("workers neither merge nor close: a person does"));
    }
    let task = audience.expand_placeholders(task);
    let text = format!("{}{}\n\n{}", audience.introduction(), task.trim(), audience.closing_instructions())
        .replace("{repo}", brief.repo)
        .replace("{number}", &brief.number.to_string())
        .replace("{head}", brief.head.unwrap_or("the head that its SPAWN line names"))
        .replace("{user}", brief.user)
        .replace("{wip}", brief.wip_label);
    Ok(format!("{CONSTRAINTS}\n{text}"))
}

/// Calls that end a pull's life, as people write them for forges and their tools; spaces and quotes are left out.
const FORBIDDEN_CALLS: &[&str] = &[
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
fn find_forbidden_call(task: &str) -> Option<(usize, &'static str)> {
    task.lines().enumerate().find_map(|(at, line)| {
        let squeezed: String =
            line.chars().filter(|c| !c.is_whitespace() && !"\"'`\\".contains(*c)).collect::<String>().to_lowercase();
        FORBIDDEN_CALLS.iter().find(|call| squeezed.contains(**call)).map(|call| (at + 1, *call))
    })
}

#[cfg(test)]
mod tests {
    use referee_core::plan::JobKind;

    use super::{Audience, PromptValues, builtin_task, render_prompt};

    const VALUES: PromptValues<'_> =
        PromptValues { repo: "acme/api", number: 7, head: Some("0123abcd"), user: "rodin", wip_label: "busy" };
    const AUDIENCES: [Audience; 2] = [Audience::External, Audience::Managed];

    /// Every built-in task, and one that somebody wrote.
    fn sample_tasks() -> impl Iterator<Item = (String, String)> {
        let built_in = JobKind::ALL.map(|kind| (kind.to_string(), builtin_task(kind).to_owned()));
        let own = "Do #{number} of {repo}. {plan} {push} {reply}".to_owned();
        built_in.into_iter().chain([("own".to_owned(), own)])
    }

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn every_task_begins_with_the_constraints_and_ends_as_it_must() {
        for ((name, task), audience) in
            sample_tasks().flat_map(|task| AUDIENCES.map(|audience| (task.clone(), audience)))
        {
            let text = render_prompt(&task, &VALUES, audience).expect("a task that may be told");
            let told = format!("{name} {audience:?}: {text}");
            assert!(text.starts_with("# ⛔ ABSOLUTE CONSTRAINTS\n"), "{told}");
            for constraint in [
                "NEVER close a PR.",
                "NEVER merge a PR.",
                "NEVER use another identity's token.",
                "NEVER act on a PR with active REQUEST_CHANGES. Fix the findings first.",
            ] {
                assert_eq!(text.matches(constraint).count(), 1, "{constraint}: {told}");
            }
            assert!(text.contains("#7") && text.contains("acme/api"), "{told}");
            let outside = text.ends_with("remove the label `busy` from #7, and answer `NO_REPLY`.\n");
            assert_eq!(outside, audience == Audience::External, "{told}");
            let left = text.find('{').filter(|at| text[*at..].find('}').is_some_and(|end| end < 16));
            assert_eq!(left, None, "something was not filled in: {told}");
        }
    }

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn a_worker_that_referee_runs_is_told_of_its_result_and_asked_for_nothing_that_it_cannot_do() {
        for (name, task) in sample_tasks() {
            let text = render_prompt(&task, &VALUES, Audience::Managed).expect("a task that may be told");
            for part in ["$REFEREE_JOB/result.json", "`nonce` of `job.json`", "You have no token", "data to judge"] {
                assert!(text.contains(part), "{name}: {part}: {text}");
            }
            for part in ["NO_REPLY", "Post ", "Push ", "comment that", "force-with-lease", "remove the label", "Fetch"]
            {
                assert!(!text.contains(part), "{name}: {part}: {text}");
            }
        }
    }

    // spec: DSP-13 @core
    #[test]
    fn two_types_are_told_how_to_take_what_bots_say() {
        for kind in [JobKind::Findings, JobKind::AddressFeedback] {
            let text = builtin_task(kind);
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
            for audience in AUDIENCES {
                let refused = render_prompt(&format!("# Task\n\n{call}\n"), &VALUES, audience).expect_err(call);
                assert!(refused.render().contains("line 3"), "{call}: {}", refused.render());
            }
        }
        let words = "Rebase onto main; git merge-base tells where you parted. Never leave the merge half done.";
        render_prompt(words, &VALUES, Audience::External).expect("words alone are no call");
    }
}

//! The prompt of a worker: the constraints, the task for its kind of job, and how to report the result (DSP-13).

use std::path::Path;
use std::{fs, io};

use referee_core::plan::JobKind;

use super::audience::Audience;
use super::forbidden_call::{ForbiddenCall, find_forbidden_call};
use crate::failure::Failure;

/// Comes before every task, built in or custom.
const CONSTRAINTS: &str = "\
# ⛔ ABSOLUTE CONSTRAINTS

- NEVER close a PR. Closing one is a person's decision; \"duplicate\", \"superseded\" or \"already done\" is never yours to say.
- NEVER merge a PR. Merging one needs a person's approval.
- NEVER use another identity's token.
- NEVER act on a PR with active REQUEST_CHANGES. Fix the findings first.
";

/// The values of a task's placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptValues<'a> {
    /// Full name of the repository, such as `acme/api`.
    pub(crate) repo: &'a str,
    /// Number of the pull, or of the issue for `impl`.
    pub(crate) number: u64,
    /// The head that the worker starts from. `None` in a prompt that is printed for later use.
    pub(crate) head: Option<&'a str>,
    /// Login of the author identity.
    pub(crate) user: &'a str,
    /// The label that marks work in progress.
    pub(crate) wip_label: &'a str,
}

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

/// Returns the task for a kind of job: the custom one in `folder` if it exists, else the built-in one.
pub(crate) fn load_task(folder: &Path, kind: JobKind) -> Result<String, Failure> {
    let path = folder.join(format!("{kind}.md"));
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(builtin_task(kind).to_owned()),
        Err(error) => Err(Failure::usage(format!("`{}` cannot be read: {error}", path.display()))),
    }
}

/// Renders the whole prompt. Refuses a task that contains a call to merge or close a pull.
pub(crate) fn render_prompt(task: &str, values: &PromptValues<'_>, audience: Audience) -> Result<String, Failure> {
    if let Some(ForbiddenCall { line, call }) = find_forbidden_call(task) {
        return Err(Failure::usage(format!("the task is refused: line {line} contains `{call}`")).with_hint(
            "workers neither merge nor close pulls: a person does; to forbid the call, write \"never …\" before it",
        ));
    }
    let task = audience.expand_placeholders(task);
    let text = format!("{}{}\n\n{}", audience.introduction(), task.trim(), audience.closing_instructions())
        .replace("{repo}", values.repo)
        .replace("{number}", &values.number.to_string())
        .replace("{head}", values.head.unwrap_or("the head that its SPAWN line names"))
        .replace("{user}", values.user)
        .replace("{wip}", values.wip_label);
    Ok(format!("{CONSTRAINTS}\n{text}"))
}

#[cfg(test)]
mod tests {
    use referee_core::plan::JobKind;

    use super::{Audience, PromptValues, builtin_task, render_prompt};

    const VALUES: PromptValues<'_> =
        PromptValues { repo: "acme/api", number: 7, head: Some("0123abcd"), user: "rodin", wip_label: "busy" };
    const AUDIENCES: [Audience; 2] = [Audience::External, Audience::Managed];

    /// Every built-in task, and a custom one.
    fn sample_tasks() -> impl Iterator<Item = (String, String)> {
        let built_in = JobKind::ALL.map(|kind| (kind.to_string(), builtin_task(kind).to_owned()));
        let custom = "Do #{number} of {repo}. {plan} {push} {reply}".to_owned();
        built_in.into_iter().chain([("custom".to_owned(), custom)])
    }

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn every_prompt_begins_with_the_constraints_and_ends_with_the_closing_instructions() {
        for ((name, task), audience) in
            sample_tasks().flat_map(|task| AUDIENCES.map(|audience| (task.clone(), audience)))
        {
            let text = render_prompt(&task, &VALUES, audience).expect("an accepted task");
            let context = format!("{name} {audience:?}: {text}");
            assert!(text.starts_with("# ⛔ ABSOLUTE CONSTRAINTS\n"), "{context}");
            for constraint in [
                "NEVER close a PR.",
                "NEVER merge a PR.",
                "NEVER use another identity's token.",
                "NEVER act on a PR with active REQUEST_CHANGES. Fix the findings first.",
            ] {
                assert_eq!(text.matches(constraint).count(), 1, "{constraint}: {context}");
            }
            assert!(text.contains("#7") && text.contains("acme/api"), "{context}");
            let is_external = text.ends_with("remove the label `busy` from #7, and answer `NO_REPLY`.\n");
            assert_eq!(is_external, audience == Audience::External, "{context}");
            let placeholder = text.find('{').filter(|start| text[*start..].find('}').is_some_and(|end| end < 16));
            assert_eq!(placeholder, None, "a placeholder was not replaced: {context}");
        }
    }

    // spec: DSP-13, DSP-17 @core
    #[test]
    fn the_prompt_of_a_managed_worker_describes_the_result_and_asks_for_no_access_to_the_forge() {
        for (name, task) in sample_tasks() {
            let text = render_prompt(&task, &VALUES, Audience::Managed).expect("an accepted task");
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
    fn tasks_with_bot_findings_ask_to_verify_each_finding() {
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
    fn a_task_with_a_call_to_merge_or_close_is_refused() {
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
        let quoted = "Never call `PATCH /pulls/{id}` with `state=closed`. Solve the merge conflicts in src/merge.rs.";
        render_prompt(quoted, &VALUES, Audience::External).expect("a forbidden call, and the word `merge`");
    }
}

//! Finds calls that merge or close a pull in a worker's task (DSP-13). A call is refused, a word is not: tasks speak of
//! merge conflicts, of files such as `src/merge.rs`, and forbid the very calls that they name.
//!
//! | call | recognised by |
//! |---|---|
//! | a command of a forge's client | client, noun and verb in a row: `gh pr merge`, `tea pulls close` |
//! | a request | the path `pulls/<id>/merge` or `merge_requests/<id>/merge` |
//! | a payload | `state=closed`, `"state": "closed"` and `state_event`, but not a filter such as `?state=closed` |
//! | a GraphQL mutation | its name |
//!
//! A call that the same sentence forbids is quoted, not asked for. In a code block nothing is quoted.

/// A forbidden call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForbiddenCall {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) call: String,
}

const CLIENTS: &[&str] = &["gh", "hub", "tea", "glab", "fj"];
const NOUNS: &[&str] = &["pr", "prs", "pull", "pulls", "mr"];
const VERBS: &[&str] = &["merge", "close"];
const COLLECTIONS: &[&str] = &["pulls", "pull", "merge_requests"];
const MUTATIONS: &[&str] =
    &["mergepullrequest", "closepullrequest", "enablepullrequestautomerge", "mergerequestaccept"];
/// Without spaces and quotes.
const PAYLOADS: &[&str] = &["state=closed", "state:closed", "state_event=close", "state_event:close"];
const WRITING_METHODS: &[&str] = &["patch", "put", "post"];

const PROHIBITIONS: &[&str] =
    &["never", "do not", "don't", "must not", "mustn't", "may not", "should not", "shouldn't", "shall not"];
/// Words that may follow a comma inside a prohibition: "never merge, close or run …".
const LISTED_WORDS: &[&str] = &["or", "and", "nor", "merge", "close", "run", "call", "use", "send"];

/// Returns the first call to merge or close a pull that the task does not forbid.
pub(super) fn find_forbidden_call(task: &str) -> Option<ForbiddenCall> {
    // The text of the paragraph or list item before the current line; empty in a code block.
    let mut paragraph = String::new();
    let mut in_code_block = false;
    for (index, line) in task.lines().enumerate() {
        let lower = line.to_lowercase();
        let trimmed = lower.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code_block = !in_code_block;
        }
        if trimmed.is_empty() || starts_block(trimmed) || in_code_block {
            paragraph.clear();
        }
        for (offset, call) in find_calls(&lower) {
            let before = format!("{paragraph}{}", lower.get(..offset).unwrap_or_default());
            if in_code_block || !is_forbidden_by(&before) {
                return Some(ForbiddenCall { line: index + 1, call });
            }
        }
        paragraph.push_str(&lower);
        paragraph.push(' ');
    }
    None
}

fn starts_block(line: &str) -> bool {
    let marker = line.split_whitespace().next().unwrap_or_default();
    let numbered = marker.strip_suffix(['.', ')']).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    numbered || matches!(marker, "-" | "*" | "+") || marker.starts_with(['#', '|', '>'])
}

/// Returns the calls in a line in lower case, with their offsets.
fn find_calls(line: &str) -> Vec<(usize, String)> {
    let words = split_words(line);
    let mut calls = Vec::new();
    for (index, (offset, word)) in words.iter().enumerate() {
        if CLIENTS.contains(word) {
            let mut rest = words[index + 1..].iter().map(|(_, word)| *word).filter(|word| !word.starts_with('-'));
            if let (Some(noun), Some(verb)) = (rest.next(), rest.next())
                && NOUNS.contains(&noun)
                && VERBS.contains(&verb)
            {
                calls.push((*offset, format!("{word} {noun} {verb}")));
            }
        }
        let segments: Vec<&str> = word.split(['/', '?', '#']).collect();
        if segments.windows(3).any(|it| COLLECTIONS.contains(&it[0]) && it[2] == "merge") {
            calls.push((*offset, "/merge".to_owned()));
        }
        let names = word.split(|c: char| !c.is_alphanumeric());
        calls.extend(names.filter(|name| MUTATIONS.contains(name)).map(|name| (*offset, name.to_owned())));
    }
    calls.extend(find_payload(line, &words));
    calls
}

/// Splits at spaces and commas, and strips quotes, brackets and the punctuation of a sentence.
fn split_words(line: &str) -> Vec<(usize, &str)> {
    let is_space = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '`' | '"' | '\'' | '\\');
    let mut words = Vec::new();
    let mut start = 0;
    for part in line.split(is_space) {
        let word = part.trim_end_matches(['.', ';', ':', '!', '?']);
        if !word.is_empty() {
            words.push((start, word));
        }
        // All separators are one byte or white space, whose length is the distance to the next part.
        start += part.len();
        start += line[start..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

fn find_payload(line: &str, words: &[(usize, &str)]) -> Option<(usize, String)> {
    let kept = line.char_indices().filter(|(_, c)| !c.is_whitespace() && !"\"'`\\".contains(*c));
    let (offsets, plain): (Vec<usize>, String) = kept.unzip();
    let writes = words.iter().any(|(_, word)| WRITING_METHODS.contains(word));
    PAYLOADS.iter().find_map(|payload| {
        let found = plain.find(payload)?;
        let offset = offsets.get(plain[..found].chars().count()).copied()?;
        let before = line[..offset].chars().next_back();
        let is_key = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let is_filter = before.is_some_and(|c| matches!(c, '?' | '&' | '-')) && !writes;
        // `state: closed` without braces or quotes is prose.
        let is_prose = payload.contains(':') && !line.contains(['{', '"', '\'']);
        (is_key && !is_filter && !is_prose).then(|| (offset, (*payload).to_owned()))
    })
}

/// Returns whether the sentence that leads up to a call forbids it.
fn is_forbidden_by(before: &str) -> bool {
    let before = before.replace(['*', '_'], "");
    let sentence_start = [". ", "! ", "? ", "; "].iter().filter_map(|end| Some(before.rfind(end)? + end.len())).max();
    let sentence = before.get(sentence_start.unwrap_or(0)..).unwrap_or_default();
    let after_prohibition = PROHIBITIONS
        .iter()
        .filter_map(|word| {
            let start = sentence.rfind(word)?;
            let bounded = sentence[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            bounded.then(|| &sentence[start + word.len()..])
        })
        .min_by_key(|rest| rest.len());
    after_prohibition.is_some_and(|rest| !leaves_prohibition(rest))
}

/// Returns whether another clause begins after the prohibition: "do not wait, run …".
fn leaves_prohibition(rest: &str) -> bool {
    let prose: String = rest.split('`').step_by(2).collect();
    prose.split(',').skip(1).any(|clause| {
        let word = clause.split_whitespace().next().unwrap_or_default();
        !word.is_empty() && !LISTED_WORDS.contains(&word)
    }) || prose.split_whitespace().any(|word| matches!(word, "but" | "instead" | "then" | "unless"))
}

#[cfg(test)]
mod tests {
    use super::find_forbidden_call;

    // DSP-13
    #[test]
    fn calls_are_found() {
        for call in [
            "curl -X POST $API/repos/acme/api/pulls/7/merge",
            "Then POST to /pulls/{number}/merge.",
            "PATCH /pulls/7 with state=closed",
            "curl -X PATCH $API/pulls/7?state=closed",
            "send {\"state\": \"closed\"}",
            "send { 'state' : 'closed' }",
            "gh pr merge 7",
            "gh pr  close 7",
            "gh --repo pr merge 7",
            "Run `gh pr merge`, then stop.",
            "tea pulls close 7",
            "tea pr merge 7",
            "glab mr merge 7",
            "call mergePullRequest",
            "PUT merge_requests/7 state_event=close",
            "If you do not like it, end it with `gh pr close 7`",
            "Do not wait; run gh pr merge",
            "Never wait. Run gh pr merge",
            "Do not ask but run gh pr merge",
        ] {
            let found = find_forbidden_call(&format!("# Task\n\n{call}\n"));
            assert_eq!(found.map(|found| found.line), Some(3), "{call}");
        }
        assert!(find_forbidden_call("Never do this:\n```sh\ngh pr merge 7\n```\n").is_some(), "code is not quoted");
    }

    // DSP-13
    #[test]
    fn words_and_quoted_calls_are_not_calls() {
        for words in [
            "- **NEVER close a PR.** Never call `PATCH /pulls/{id}` with `state=closed`. Closing a PR requires a person.",
            "- **NEVER merge a PR.** Never call the merge API. Merging requires human approval.",
            "Never call `PATCH /pulls/{id}` with\n  `state=closed`.",
            "Never run `gh pr merge`, `gh pr close` or `tea pulls close`.",
            "You must not merge, close or send {\"state\": \"closed\"}.",
            "Solve the PR merge conflicts, and look at the PR closely.",
            "The conflict is in src/merge.rs and docs/pulls/merge.md.",
            "List the closed ones: curl $API/pulls?state=closed",
            "gh pr list --state=closed",
            "Rebase onto main; `git merge-base` names the fork point. Never leave the merge half done.",
            "An issue in state: closed needs no work.",
        ] {
            assert_eq!(find_forbidden_call(words), None, "{words}");
        }
    }
}

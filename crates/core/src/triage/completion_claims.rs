//! Detects claims of completion in generated texts.
//!
//! A draft for a `valid` thread must not claim that the work is done (TRI-11). This check is strict, because a false
//! alarm only costs a rewording. A reply must not claim that the thread is resolved (FIX-4). This check looks at the
//! subject, because talk about code ("the path is resolved early") must pass.

/// Returns the word with which a text claims completion.
pub fn find_completion_claim(text: &str) -> Option<&'static str> {
    split_sentences(text).into_iter().find_map(|words| {
        (0..words.len()).find_map(|at| {
            let phrase = match words.get(at)?.as_str() {
                "done" => "done",
                "resolved" => "resolved",
                "fixed" if is_asserted(&words, at) => "fixed",
                _ => return None,
            };
            (!is_hypothetical(&words, at)).then_some(phrase)
        })
    })
}

/// Returns whether a text claims that its thread is resolved.
pub fn claims_resolution(text: &str) -> bool {
    split_sentences(text).iter().any(|words| {
        let mentions_thread = words.iter().any(|word| CONVERSATION_WORDS.contains(&word.as_str()));
        words.iter().enumerate().any(|(at, word)| {
            word == "resolved"
                && !is_hypothetical(words, at)
                && (mentions_thread
                    || matches!(find_subject(words, at), None | Some("this" | "it" | "that" | "everything"))
                    || matches!(next_word(words, at), Some("this" | "it" | "these" | "all")))
        })
    })
}

const CONVERSATION_WORDS: [&str; 9] =
    ["thread", "threads", "conversation", "conversations", "comment", "comments", "discussion", "finding", "feedback"];

/// Returns whether "fixed" is a verb, and not an adjective as in "a fixed size".
fn is_asserted(words: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before)).map(String::as_str);
    matches!(before, None | Some("is" | "are" | "was" | "been" | "now" | "already" | "i" | "we" | "i've" | "we've"))
        || matches!(next_word(words, at), None | Some("in" | "by" | "with" | "at" | "via" | "now" | "here"))
}

/// Returns whether the word follows "will be", "to be", "not yet", "once this is" and the like, so that it claims
/// nothing.
fn is_hypothetical(words: &[String], at: usize) -> bool {
    let linking = ["be", "been", "get", "fully", "yet", "have", "is", "are", "this", "it", "that", "gets"];
    let governing = words.iter().take(at).rev().find(|word| !linking.contains(&word.as_str()));
    matches!(
        governing.map(String::as_str),
        Some(
            "will"
                | "to"
                | "must"
                | "not"
                | "cannot"
                | "can"
                | "could"
                | "would"
                | "shall"
                | "until"
                | "once"
                | "when"
                | "if"
                | "unless"
                | "isn't"
                | "hasn't"
                | "won't"
                | "can't"
                | "never"
        )
    )
}

/// Returns the subject of "resolved", if the sentence has one.
fn find_subject(words: &[String], at: usize) -> Option<&str> {
    let linking =
        ["is", "are", "was", "be", "been", "has", "have", "now", "already", "fully", "marked", "marking", "as", "all"];
    words.iter().take(at).rev().map(String::as_str).find(|word| !linking.contains(word))
}

fn next_word(words: &[String], at: usize) -> Option<&str> {
    words.get(at + 1).map(String::as_str)
}

/// Splits a text into sentences of lower-case words. Invisible characters do not split a word.
fn split_sentences(text: &str) -> Vec<Vec<String>> {
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).flat_map(char::to_lowercase).collect();
    visible
        .split(['.', '!', '?', ';', ':', '\n', ','])
        .map(|sentence| {
            sentence
                .split(|c: char| !c.is_alphanumeric() && c != '\'')
                .filter(|word| !word.is_empty())
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|words| !words.is_empty())
        .collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{claims_resolution, find_completion_claim};

    #[test]
    fn a_statement_of_completion_is_a_claim_and_a_promise_is_not() {
        for text in [
            "Fixed in 9c1f2ab",
            "Done.",
            "This is resolved now",
            "all good, **done**",
            "That has been fixed",
            "fixed",
            "Thanks! Fixed by locking first",
            "re\u{200b}solved",
            "should be fixed in 9c1f2ab",
        ] {
            assert!(find_completion_claim(text).is_some(), "{text}");
        }
        for text in [
            "We will take the lock first",
            "This needs to be done with a lock",
            "It will be fixed in the next push",
            "Not done yet",
            "once this is resolved we can go on",
            "a fixed size buffer is enough",
            "the path stays unresolved",
            "",
        ] {
            assert_eq!(find_completion_claim(text), None, "{text}");
        }
    }

    #[test]
    fn resolved_is_a_claim_about_a_thread_but_not_about_code() {
        for text in [
            "Resolved.",
            "✅ Resolved in 9c1f2ab",
            "Marking as resolved",
            "This is now resolved",
            "I have resolved this",
            "the comment is resolved, thanks",
            "took the lock. Thread resolved",
        ] {
            assert!(claims_resolution(text), "{text}");
        }
        for text in [
            "The path is now resolved before the check",
            "names resolved late are cached",
            "It will be resolved by the reviewer",
            "still unresolved",
            "Fixed in 9c1f2ab",
        ] {
            assert!(!claims_resolution(text), "{text}");
        }
    }
}

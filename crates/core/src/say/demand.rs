//! Recognises a demand to fix a finding (D39): such a note accepts nothing, however it begins.
//!
//! | clause | example |
//! |---|---|
//! | an imperative | "so fix it now" |
//! | an obligation or request before a verb of repair | "this has to be fixed", "I want you to address it" |
//! | a repair that is needed | "a fix is required" |
//! | a condition with a repair | "not before this is resolved" |
//! | a merge that is refused | "do not merge this" |
//! | words that refuse an acceptance | "won't fix: not an option" |
//!
//! A negation between obligation and verb makes it a reason: "we must not change it".

use super::prose::{split_sentences, split_words};

const REPAIR_VERBS: [&str; 18] = [
    "fix", "address", "resolve", "correct", "repair", "patch", "change", "remove", "revert", "rework", "solve",
    "handle", "replace", "rewrite", "redo", "drop", "delete", "go",
];
const REPAIRED: [&str; 12] = [
    "fixed",
    "addressed",
    "resolved",
    "corrected",
    "repaired",
    "patched",
    "changed",
    "removed",
    "reverted",
    "reworked",
    "solved",
    "handled",
];
/// Nouns of a repair: "needs a fix", "fixing is required".
const REPAIR_NOUNS: [&str; 5] = ["fix", "fixing", "repair", "correction", "rework"];

/// Words before an imperative.
const IMPERATIVE_LEADS: [&str; 17] = [
    "so",
    "and",
    "then",
    "just",
    "do",
    "kindly",
    "better",
    "go",
    "also",
    "but",
    "therefore",
    "hence",
    "please",
    "pls",
    "now",
    "ahead",
    "really",
];
/// What follows an imperative. "Fix is in #12" and "change would break it" are not imperatives.
const IMPERATIVE_OBJECTS: [&str; 17] = [
    "it",
    "this",
    "that",
    "the",
    "these",
    "those",
    "them",
    "now",
    "before",
    "first",
    "your",
    "all",
    "asap",
    "today",
    "immediately",
    "properly",
    "and",
];

const OBLIGATIONS: [&str; 24] = [
    "please", "pls", "must", "should", "shall", "need", "needs", "ought", "let's", "lets", "required", "require",
    "requires", "want", "expect", "insist", "has", "have", "sure", "demand", "you", "ask", "asking", "gotta",
];
/// The word directly before a verb that an obligation governs.
const VERB_LINKS: [&str; 22] = [
    "to", "be", "please", "pls", "must", "should", "shall", "and", "let's", "lets", "really", "also", "just", "get",
    "actually", "properly", "you", "it", "this", "do", "still", "gotta",
];
const NEEDED: [&str; 9] = ["needed", "required", "needs", "requires", "need", "require", "mandatory", "must", "want"];
const CONDITIONS: [&str; 6] = ["until", "till", "unless", "before", "once", "after"];
const MERGE_WORDS: [&str; 9] =
    ["merge", "merged", "merging", "ship", "shipped", "land", "landed", "approve", "approved"];

const REFUSAL_WORDS: [&str; 8] =
    ["unacceptable", "inacceptable", "rejected", "denied", "vetoed", "kidding", "joking", "nonsense"];
const REFUSAL_PHRASES: [&[&str]; 6] = [
    &["not", "an", "option"],
    &["no", "option"],
    &["no", "way"],
    &["absolutely", "not"],
    &["out", "of", "the", "question"],
    &["not", "okay"],
];

/// Returns whether a text demands that a finding be fixed.
pub(super) fn demands_fix(prose: &str) -> bool {
    split_sentences(prose).any(|sentence| {
        let words = split_words(sentence);
        words.split(|word| *word == ",").any(is_demand) || refuses_acceptance(&words)
    })
}

/// Returns whether a word negates.
pub(super) fn is_negation(word: &str) -> bool {
    const NEGATIONS: [&str; 20] = [
        "not", "never", "no", "nor", "neither", "nope", "cannot", "cant", "dont", "doesnt", "isnt", "wasnt", "arent",
        "hasnt", "havent", "wont", "nobody", "none", "nothing", "nowhere",
    ];
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

fn is_demand(clause: &[&str]) -> bool {
    let has = |list: &[&str]| clause.iter().any(|word| list.contains(word));
    is_imperative(clause)
        || (0..clause.len()).any(|at| is_governed_repair(clause, at))
        || (has(&REPAIR_NOUNS) && has(&NEEDED) && !clause.iter().any(|word| is_negation(word)))
        || (has(&CONDITIONS) && has(&REPAIRED))
        || refuses_merge(clause)
}

fn is_imperative(clause: &[&str]) -> bool {
    let leads = clause.iter().take_while(|word| IMPERATIVE_LEADS.contains(word)).count();
    let Some((verb, object)) = clause.get(leads..).and_then(<[_]>::split_first) else { return false };
    REPAIR_VERBS.contains(verb) && object.first().is_none_or(|word| IMPERATIVE_OBJECTS.contains(word))
}

/// Returns whether an obligation governs the verb at `at`: "has to be fixed", "must really fix".
fn is_governed_repair(clause: &[&str], at: usize) -> bool {
    let is_verb = clause.get(at).is_some_and(|word| REPAIR_VERBS.contains(word) || REPAIRED.contains(word));
    let before = clause.get(..at).unwrap_or_default();
    if !is_verb || !before.last().is_some_and(|word| VERB_LINKS.contains(word)) {
        return false;
    }
    let Some(governor) = before.iter().rposition(|word| OBLIGATIONS.contains(word)) else { return false };
    let window = clause.get(governor.saturating_sub(1)..at).unwrap_or_default();
    let is_perfect = matches!(before.get(governor), Some(&("has" | "have")));
    !window.iter().any(|word| is_negation(word)) && (!is_perfect || before.get(governor + 1) == Some(&"to"))
}

fn refuses_merge(clause: &[&str]) -> bool {
    let Some(merge) = clause.iter().position(|word| MERGE_WORDS.contains(word)) else { return false };
    let before = clause.get(..merge).unwrap_or_default();
    before.iter().any(|word| is_negation(word) || word.starts_with("block"))
}

fn refuses_acceptance(words: &[&str]) -> bool {
    let refuses = |rest: &[&str]| REFUSAL_PHRASES.iter().any(|phrase| rest.starts_with(phrase));
    let is_refused =
        |pair: &[&str]| matches!(pair, [negation, "accept" | "accepted" | "acceptable"] if is_negation(negation));
    words.iter().any(|word| REFUSAL_WORDS.contains(word))
        || words.windows(2).any(is_refused)
        || (0..words.len()).any(|at| words.get(at..).is_some_and(refuses))
}

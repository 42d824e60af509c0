//! Parses the stance of a person's reply from a fixed list of phrases (LOOP-12). A model never sets it.
//!
//! | phrase | stance |
//! |---|---|
//! | `fixed`, `done`, `addressed`, `resolved`, `corrected`, at the end of a clause or before `in`, `by`, `now`, `it`, … | claimed fixed |
//! | `won't fix`, `wontfix`, `will not fix` about oneself; `not going to fix`; `accepted risk`, `accept the risk` | accepted |
//! | `disagree`, `false positive`, `not a bug`, `not an issue`, `not a problem`, `not true`, `incorrect`, … | disputed |
//! | `acknowledged`, `by design`, `as designed`, `as intended`, `intentional`, `leave as is`, …, without a promise to fix it | accepted |
//! | a question | asked |
//! | anything else | silent |
//!
//! The first row with a match anywhere in the text counts. The phrases are not read in questions, quotes and code, nor in clauses
//! that negate or hedge the phrase before it: `not fixed`, `will be fixed`, `should be acknowledged`, `if you
//! disagree`.

use super::prose::{prose_lines, strip_code_spans};
use crate::model::Stance;

const FIX_CLAIMS: [&str; 5] = ["fixed", "done", "addressed", "resolved", "corrected"];

/// A claim ends its clause or continues with one of these: `fixed in 9c1f2ab`, but not `fixed size`.
const CLAIM_CONTINUATIONS: [&str; 19] = [
    "in", "by", "with", "now", "here", "via", "it", "this", "that", "these", "those", "the", "and", "both", "all",
    "as", "thanks", "thank", "already",
];
const NOT_A_CLAIM_AFTER: [&str; 10] = ["a", "an", "the", "of", "with", "any", "some", "each", "per", "no"];
const DEFERRAL_WORDS: [&str; 8] =
    ["later", "soon", "tomorrow", "next", "separately", "eventually", "followup", "follow"];

const REFUSAL_PHRASES: [&[&str]; 4] = [&["won't", "fix"], &["wont", "fix"], &["wontfix"], &["will", "not", "fix"]];

/// Words before a refusal. Others have another subject: `that won't fix the leak` is about a proposal.
const REFUSAL_SUBJECTS: [&str; 11] = ["i", "we", "so", "and", "still", "definitely", "just", "also", "a", "as", "is"];

const RISK_ACCEPTANCE_PHRASES: [&[&str]; 8] = [
    &["not", "going", "to", "fix"],
    &["accepted", "risk"],
    &["risk", "accepted"],
    &["risk", "is", "accepted"],
    &["accept", "the", "risk"],
    &["accept", "this", "risk"],
    &["accepting", "the", "risk"],
    &["accepting", "this", "risk"],
];

const DISPUTE_PHRASES: [&[&str]; 17] = [
    &["disagree"],
    &["false", "positive"],
    &["not", "a", "bug"],
    &["isn't", "a", "bug"],
    &["not", "an", "issue"],
    &["isn't", "an", "issue"],
    &["not", "a", "problem"],
    &["isn't", "a", "problem"],
    &["not", "true"],
    &["isn't", "true"],
    &["not", "correct"],
    &["isn't", "correct"],
    &["not", "applicable"],
    &["doesn't", "apply"],
    &["incorrect"],
    &["is", "wrong"],
    &["that's", "wrong"],
];

const ACKNOWLEDGEMENT_PHRASES: [&[&str]; 13] = [
    &["acknowledged"],
    &["by", "design"],
    &["as", "designed"],
    &["as", "intended"],
    &["is", "intended"],
    &["intended", "behavior"],
    &["intended", "behaviour"],
    &["intentional"],
    &["leave", "as", "is"],
    &["leave", "it", "as", "is"],
    &["leaving", "as", "is"],
    &["leaving", "it", "as", "is"],
    &["keeping", "as", "is"],
];

/// Words that negate or hedge a later phrase, in addition to those that end in `n't` or `'ll`.
const HEDGE_WORDS: [&str; 57] = [
    "not",
    "never",
    "no",
    "nor",
    "neither",
    "cannot",
    "cant",
    "dont",
    "doesnt",
    "isnt",
    "wasnt",
    "arent",
    "hasnt",
    "havent",
    "wont",
    "will",
    "would",
    "should",
    "could",
    "might",
    "may",
    "must",
    "shall",
    "can",
    "to",
    "be",
    "being",
    "if",
    "unless",
    "until",
    "till",
    "when",
    "whenever",
    "once",
    "after",
    "before",
    "whether",
    "partially",
    "partly",
    "half",
    "almost",
    "nearly",
    "mostly",
    "need",
    "needs",
    "hopefully",
    "maybe",
    "perhaps",
    "probably",
    "how",
    "why",
    "what",
    "who",
    "which",
    "without",
    "nothing",
    "wish",
];

/// Returns the stance of a person's reply.
pub fn parse_stance(text: &str) -> Stance {
    let mut signals = StanceSignals::default();
    for line in prose_lines(text) {
        let line = strip_code_spans(line).to_lowercase().replace('’', "'");
        for sentence in line.split_inclusive(['.', '!', '?', ';']) {
            match sentence.ends_with('?') {
                true => signals.asked = true,
                false => signals.read_sentence(sentence),
            }
        }
    }
    match signals {
        StanceSignals { claimed: true, .. } => Stance::ClaimedFixed,
        StanceSignals { refused: true, .. } => Stance::Accepted,
        StanceSignals { disputed: true, .. } => Stance::Disputed,
        StanceSignals { acknowledged: true, promised: false, .. } => Stance::Accepted,
        StanceSignals { asked: true, .. } => Stance::Asked,
        _ => Stance::Silent,
    }
}

#[derive(Default)]
struct StanceSignals {
    claimed: bool,
    refused: bool,
    disputed: bool,
    acknowledged: bool,
    promised: bool,
    asked: bool,
}

impl StanceSignals {
    fn read_sentence(&mut self, sentence: &str) {
        let words: Vec<&str> = sentence
            .split_inclusive([',', ':', '(', ')', '–', '—', '"'])
            .flat_map(|clause| {
                let words = clause.split(|c: char| !c.is_alphanumeric() && c != '\'');
                words.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty()).chain(["but"])
            })
            .collect();
        for clause in words.split(|word| ["but", "however", "although", "though"].contains(word)) {
            self.read_clause(clause);
        }
    }

    fn read_clause(&mut self, words: &[&str]) {
        self.claimed |= claims_fixed(words);
        self.refused |= contains_unhedged(words, &RISK_ACCEPTANCE_PHRASES)
            || find_phrases(words, &REFUSAL_PHRASES)
                .any(|before| !is_hedged(before) && before.last().is_none_or(|word| REFUSAL_SUBJECTS.contains(word)));
        self.disputed |= contains_unhedged(words, &DISPUTE_PHRASES);
        self.acknowledged |= contains_unhedged(words, &ACKNOWLEDGEMENT_PHRASES);
        self.promised |= promises_fix(words);
    }
}

fn claims_fixed(words: &[&str]) -> bool {
    words.iter().enumerate().filter(|(_, word)| FIX_CLAIMS.contains(word)).any(|(index, _)| {
        let (before, after) = words.split_at(index);
        let after = after.get(1..).unwrap_or_default();
        !is_hedged(before)
            && before.last().is_none_or(|word| !NOT_A_CLAIM_AFTER.contains(word))
            && after.first().is_none_or(|word| CLAIM_CONTINUATIONS.contains(word))
            && !after.iter().any(|word| DEFERRAL_WORDS.contains(word))
    })
}

/// Returns whether a clause promises a fix: `acknowledged, will do` accepts nothing.
fn promises_fix(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let is_negated = words.get(index + 1).is_some_and(|next| *next == "not");
        (*word == "will" && !is_negated) || word.ends_with("'ll") || ["fixing", "todo", "soon", "later"].contains(word)
    })
}

fn contains_unhedged(words: &[&str], phrases: &'static [&'static [&'static str]]) -> bool {
    find_phrases(words, phrases).any(|before| !is_hedged(before))
}

/// Returns the words before each occurrence of a phrase.
fn find_phrases<'w, 't>(
    words: &'w [&'t str],
    phrases: &'static [&'static [&'static str]],
) -> impl Iterator<Item = &'w [&'t str]> {
    (0..words.len()).filter_map(move |index| {
        let (before, rest) = words.split_at_checked(index)?;
        phrases.iter().any(|phrase| rest.starts_with(phrase)).then_some(before)
    })
}

fn is_hedged(before: &[&str]) -> bool {
    before.iter().any(|word| HEDGE_WORDS.contains(word) || word.ends_with("n't") || word.ends_with("'ll"))
}

//! Parses the stance of a person's reply from how it begins (LOOP-12, D39). A model never sets it.
//!
//! Quotes, code and leading mentions are skipped first. The first row that matches counts.
//!
//! | the note begins with | stance |
//! |---|---|
//! | `won't fix:` or `accepted risk:` and a reason | accepted, also if the finding is critical |
//! | `fixed`, `done`, `addressed`, `resolved`, `corrected`, at the end of a clause or before `in`, `by`, `now`, `it`, … | claimed fixed |
//! | `disagree`, `false positive`, `not a bug`, `not an issue`, `not a problem`, `not true`, `incorrect`, … | disputed |
//! | `won't fix`, `accept the risk`, `acknowledged`, `by design`, `as intended`, `leave as is`, … | accepted |
//! | anything else, with a question somewhere | asked |
//! | anything else | silent |
//!
//! "Thanks", "good catch", "I", "this is" and the like may precede a phrase; `openings` lists them. A question has no
//! stance. A demand to fix voids every acceptance ("acknowledged, please fix this"). A negation, a condition or a
//! promise voids those without a colon.

use super::demand::{demands_fix, is_negation};
use super::openings::{find_acceptance, has_claim, has_dispute, mentions_acceptance_phrase, skip_courtesy};
use super::prose::{normalise_prose, split_sentences, split_words};
use crate::model::Stance;

/// The openings that accept a critical finding. A colon and a reason must follow.
const FORMAL_ACCEPTANCES: [&str; 4] = ["won't fix", "wont fix", "wontfix", "accepted risk"];

/// Words that void an acceptance without a colon, beside negations: contrasts, conditions, promises and demands.
const VOIDING_WORDS: [&str; 46] = [
    "wrong",
    "unacceptable",
    "but",
    "however",
    "though",
    "although",
    "unless",
    "until",
    "till",
    "if",
    "except",
    "provided",
    "assuming",
    "whether",
    "maybe",
    "perhaps",
    "probably",
    "will",
    "fix",
    "fixing",
    "todo",
    "soon",
    "later",
    "please",
    "pls",
    "must",
    "should",
    "shall",
    "need",
    "needs",
    "ought",
    "let's",
    "lets",
    "required",
    "require",
    "requires",
    "want",
    "expect",
    "insist",
    "wait",
    "block",
    "blocks",
    "blocker",
    "blocking",
    "before",
    "rather",
];

/// Returns the stance of a person's reply.
pub fn parse_stance(text: &str) -> Stance {
    let prose = normalise_prose(text);
    let prose = skip_mentions(&prose);
    if let Some(reason) = strip_formal_acceptance(prose) {
        return if demands_fix(reason) { Stance::Silent } else { Stance::AcceptedWithReason };
    }
    let opening = find_opening(prose);
    let words = opening.as_ref().map_or(&[][..], |opening| skip_courtesy(&opening.words));
    let accepts = || {
        let voided = |words: &[&str]| words.iter().any(|word| is_negation(word) || voids(word));
        let later = opening.as_ref().map_or("", |opening| opening.later);
        find_acceptance(words)
            .is_some_and(|after| !voided(after) && !split_sentences(later).any(|next| voided(&split_words(next))))
            && begins_with_word(prose)
            && !demands_fix(prose)
    };
    if has_claim(words) {
        Stance::ClaimedFixed
    } else if has_dispute(words) {
        Stance::Disputed
    } else if accepts() {
        Stance::Accepted
    } else if split_sentences(prose).any(|sentence| sentence.ends_with('?')) {
        Stance::Asked
    } else {
        Stance::Silent
    }
}

/// Returns whether the prose of a text contains an acceptance phrase. Its author may have meant to accept the finding,
/// whatever its stance is.
pub fn mentions_acceptance(text: &str) -> bool {
    split_sentences(&normalise_prose(text)).any(|sentence| mentions_acceptance_phrase(&split_words(sentence)))
}

/// The first sentence that is more than courtesy.
struct Opening<'t> {
    words: Vec<&'t str>,
    /// The sentences after it.
    later: &'t str,
}

/// Returns `None` if the opening is a question.
fn find_opening(prose: &str) -> Option<Opening<'_>> {
    let mut read = 0;
    split_sentences(prose)
        .map(|sentence| {
            read += sentence.len();
            (sentence, Opening { words: split_words(sentence), later: prose.get(read..).unwrap_or_default() })
        })
        .find(|(_, opening)| skip_courtesy(&opening.words).iter().any(|word| *word != ","))
        .filter(|(sentence, _)| !sentence.ends_with('?'))
        .map(|(_, opening)| opening)
}

/// Returns whether a text begins with a word, not with a quotation, struck-out text or markup.
fn begins_with_word(prose: &str) -> bool {
    prose.trim_start().starts_with(|c: char| c.is_alphanumeric() || is_emphasis(c))
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_')
}

fn voids(word: &str) -> bool {
    VOIDING_WORDS.contains(&word) || word.ends_with("'ll")
}

/// Returns the reason after a formal acceptance, if there is one.
fn strip_formal_acceptance(prose: &str) -> Option<&str> {
    let prose = prose.trim_start_matches(is_emphasis);
    let rest = FORMAL_ACCEPTANCES.iter().find_map(|phrase| prose.strip_prefix(phrase))?;
    let reason = rest.trim_start_matches(is_emphasis).trim_start().strip_prefix(':')?;
    let has_word = split_words(reason).iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
    has_word.then_some(reason)
}

/// Returns the prose after the mentions that it begins with.
fn skip_mentions(prose: &str) -> &str {
    let mut rest = prose.trim_start();
    while let Some(name) = rest.strip_prefix('@') {
        let end =
            name.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '[' | ']')).unwrap_or(name.len());
        rest = name.get(end..).unwrap_or_default().trim_start_matches([',', ':']).trim_start();
    }
    rest
}

//! The phrases that a reply begins with (D39), and the words that may stand before them.

/// Courtesy before the actual reply.
const COURTESY: [&[&str]; 22] = [
    &["thanks"],
    &["thank", "you"],
    &["thx"],
    &["hi"],
    &["hello"],
    &["hey"],
    &["ok"],
    &["okay"],
    &["yes"],
    &["yeah"],
    &["yep"],
    &["right"],
    &["sure"],
    &["agreed"],
    &["sorry"],
    &["hm"],
    &["hmm"],
    &["good", "catch"],
    &["nice", "catch"],
    &["good", "point"],
    &["fair", "enough"],
    &["fair", "point"],
];

/// Phrases of one meaning, and the words that may precede them.
struct PhraseGroup {
    before: &'static [&'static str],
    phrases: &'static [&'static [&'static str]],
}

const CLAIMS: PhraseGroup = PhraseGroup {
    before: &[
        "i",
        "we",
        "i've",
        "we've",
        "have",
        "has",
        "this",
        "that",
        "it",
        "is",
        "it's",
        "that's",
        "are",
        "was",
        "were",
        "been",
        "all",
        "both",
        "now",
        "already",
        "just",
        "also",
        "should've",
    ],
    phrases: &[&["fixed"], &["done"], &["addressed"], &["resolved"], &["corrected"]],
};

/// A claim ends its clause or continues with one of these: `fixed in 9c1f2ab`, but not `fixed size`.
const CLAIM_CONTINUATIONS: [&str; 20] = [
    ",", "in", "by", "with", "now", "here", "via", "it", "this", "that", "these", "those", "the", "and", "both", "all",
    "as", "thanks", "thank", "already",
];
const DEFERRAL_WORDS: [&str; 8] =
    ["later", "soon", "tomorrow", "next", "separately", "eventually", "followup", "follow"];

const DISPUTES: PhraseGroup = PhraseGroup {
    before: &[
        "i",
        "we",
        "this",
        "that",
        "it",
        "is",
        "it's",
        "that's",
        "a",
        "strongly",
        "respectfully",
        "also",
        "still",
        "looks",
        "seems",
        "like",
        "to",
        "be",
        "think",
        "believe",
        "just",
        "actually",
    ],
    phrases: &[
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
    ],
};

/// Acceptances without a colon. "That won't fix the leak" is about a proposal, so each group has subjects of its own.
const ACCEPTANCES: [PhraseGroup; 4] = [
    PhraseGroup {
        before: &[
            "i",
            "we",
            "i'm",
            "we're",
            "am",
            "are",
            "closing",
            "closed",
            "marking",
            "marked",
            "as",
            "a",
            "so",
            "still",
            "definitely",
            "just",
        ],
        phrases: &[
            &["won't", "fix"],
            &["wont", "fix"],
            &["won't", "be", "fixing"],
            &["will", "not", "fix"],
            &["not", "going", "to", "fix"],
        ],
    },
    PhraseGroup {
        before: &["this", "is", "it's", "that's", "closing", "closed", "marking", "marked", "as", "a"],
        phrases: &[&["wontfix"]],
    },
    PhraseGroup {
        before: &["i", "we", "i'm", "we're", "am", "are", "the", "this", "is", "an", "it's", "as"],
        phrases: &[
            &["accepted", "risk"],
            &["risk", "accepted"],
            &["risk", "is", "accepted"],
            &["accept", "the", "risk"],
            &["accept", "this", "risk"],
            &["accepting", "the", "risk"],
            &["accepting", "this", "risk"],
        ],
    },
    PhraseGroup {
        before: &[
            "i", "we", "we're", "i'm", "this", "that", "it", "is", "it's", "that's", "works", "working", "behaves",
            "keep", "leave", "please",
        ],
        phrases: &[
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
            &["keeping", "it", "as", "is"],
        ],
    },
];

/// An acceptance only at the end of a clause: "acknowledged as a bug" and "acknowledged that …" are not.
const ACKNOWLEDGED: PhraseGroup = PhraseGroup { before: &["i", "we", "is", "this"], phrases: &[&["acknowledged"]] };

/// Words after an acceptance that make it the subject of another statement: "a wontfix is …".
const SUBJECT_CONTINUATIONS: [&str; 10] =
    ["is", "isn't", "was", "wasn't", "means", "would", "could", "can", "seems", "sounds"];

/// Returns whether a reply begins with the claim that the finding is fixed.
pub(super) fn has_claim(words: &[&str]) -> bool {
    CLAIMS.find(words).is_some_and(|after| {
        let clause = after.split(|word| *word == ",").next().unwrap_or_default();
        after.first().is_none_or(|word| CLAIM_CONTINUATIONS.contains(word))
            && !clause.iter().any(|word| DEFERRAL_WORDS.contains(word))
    })
}

/// Returns whether a reply begins with a dispute.
pub(super) fn has_dispute(words: &[&str]) -> bool {
    DISPUTES.find(words).is_some()
}

/// Returns the words after the acceptance that a reply begins with.
pub(super) fn find_acceptance<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    if let Some(after) = ACKNOWLEDGED.find(words) {
        return after.first().is_none_or(|word| *word == ",").then_some(after);
    }
    let after = ACCEPTANCES.iter().find_map(|group| group.find(words))?;
    after.first().is_none_or(|word| !SUBJECT_CONTINUATIONS.contains(word)).then_some(after)
}

/// Returns whether an acceptance phrase occurs anywhere.
pub(super) fn mentions_acceptance_phrase(words: &[&str]) -> bool {
    let phrases = || ACCEPTANCES.iter().chain([&ACKNOWLEDGED]).flat_map(|group| group.phrases);
    (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| phrases().any(|phrase| rest.starts_with(phrase))))
}

/// Returns the words after courtesy.
pub(super) fn skip_courtesy<'w, 't>(words: &'w [&'t str]) -> &'w [&'t str] {
    let mut rest = words;
    loop {
        let courtesy = COURTESY.iter().find(|phrase| rest.starts_with(phrase)).map_or(0, |phrase| phrase.len());
        let skipped = if rest.first() == Some(&",") { 1 } else { courtesy };
        match rest.get(skipped..) {
            Some(shorter) if skipped > 0 => rest = shorter,
            _ => return rest,
        }
    }
}

impl PhraseGroup {
    /// Returns the words after a phrase of the group, if only words of `before` precede it.
    fn find<'w, 't>(&self, words: &'w [&'t str]) -> Option<&'w [&'t str]> {
        let prefix = words.iter().take_while(|word| self.before.contains(word)).count();
        (0..=prefix).filter_map(|at| words.get(at..)).find_map(|rest| {
            self.phrases.iter().find(|phrase| rest.starts_with(phrase)).and_then(|phrase| rest.get(phrase.len()..))
        })
    }
}

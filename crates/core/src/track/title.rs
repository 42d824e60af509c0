//! Normalisation and similarity of finding titles.

/// Stop words, which do not count for similarity.
const FILLER_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "can", "could", "does", "for", "from", "has", "have",
    "here", "if", "in", "into", "is", "it", "its", "may", "might", "of", "on", "or", "should", "so", "that", "the",
    "there", "this", "to", "was", "when", "which", "will", "with", "would",
];

/// Returns the words of a title in lower case, without punctuation, stop words and line numbers.
///
/// A title of stop words only keeps them, because empty titles would all be equal.
pub fn normalise_title(title: &str) -> String {
    let lower = title.to_lowercase();
    let all = split_words(&lower);
    let mut kept = Vec::with_capacity(all.len());
    let mut rest = all.iter().copied().peekable();
    while let Some(word) = rest.next() {
        if matches!(word, "line" | "lines") && rest.peek().is_some_and(|next| is_number(next)) {
            while rest.next_if(|next| is_number(next)).is_some() {}
        } else if !is_line_mention(word) && !FILLER_WORDS.contains(&word) {
            kept.push(word);
        }
    }
    if kept.is_empty() { all.join(" ") } else { kept.join(" ") }
}

/// Returns the similarity of two titles in thousandths: the Dice coefficient of their words.
pub fn title_similarity(a: &str, b: &str) -> u32 {
    normalised_title_similarity(&normalise_title(a), &normalise_title(b))
}

/// [`title_similarity`] of normalised titles.
pub(super) fn normalised_title_similarity(a: &str, b: &str) -> u32 {
    if a == b {
        return 1000;
    }
    let (a, b) = (collect_word_set(a), collect_word_set(b));
    let total = a.len() + b.len();
    if total == 0 {
        return 0;
    }
    let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    u32::try_from(2000 * shared / total).unwrap_or(1000)
}

/// Returns whether two normalised titles have the same form, but each names something that the other does not. Numbers
/// do not count: a measured value changes with the code.
pub(super) fn name_different_things(a: &str, b: &str) -> bool {
    let names = |title| -> Vec<&str> { collect_word_set(title).into_iter().filter(|word| !is_number(word)).collect() };
    let (names_a, names_b) = (names(a), names(b));
    let has_own = |one: &[&str], other: &[&str]| one.iter().any(|word| other.binary_search(word).is_err());
    let have_same_form = normalised_title_similarity(a, b) >= SAME_FORM_PERMILLE;
    have_same_form && has_own(&names_a, &names_b) && has_own(&names_b, &names_a)
}

/// Similarity, in thousandths, from which two titles are one text with other names in it.
const SAME_FORM_PERMILLE: u32 = 500;

fn collect_word_set(title: &str) -> Vec<&str> {
    let mut set: Vec<&str> = title.split(' ').filter(|word| !word.is_empty()).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Splits at anything but letters and digits. In scripts without spaces, each character is a word.
fn split_words(title: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for run in title.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|run| !run.is_empty()) {
        let mut start = 0;
        for (at, letter) in run.char_indices().filter(|(_, letter)| is_single_char_word(*letter)) {
            let end = at + letter.len_utf8();
            words.extend([&run[start..at], &run[at..end]]);
            start = end;
        }
        words.push(&run[start..]);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether the character belongs to an East Asian script (from the CJK radicals on).
fn is_single_char_word(letter: char) -> bool {
    letter >= '\u{2e80}'
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Matches `l88`, as in a link to a line.
fn is_line_mention(word: &str) -> bool {
    word.strip_prefix('l').is_some_and(|number| !number.is_empty() && is_number(number))
}

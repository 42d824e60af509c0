//! What a finding's title says, whatever its punctuation.

/// Words that carry no concern; two titles that share only these share nothing.
const FILLER_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "can", "could", "does", "for", "from", "has", "have",
    "here", "if", "in", "into", "is", "it", "its", "may", "might", "of", "on", "or", "should", "so", "that", "the",
    "there", "this", "to", "was", "when", "which", "will", "with", "would",
];

/// The words of a title in lower case, without punctuation, fillers and mentions of a line number.
///
/// A title of fillers alone keeps them: an empty name would make all such findings one.
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

/// How alike two titles are, in thousandths: the share of words they have in common (Dice), 1000 when they say the same.
pub fn title_similarity(one: &str, other: &str) -> u32 {
    normalised_title_similarity(&normalise_title(one), &normalise_title(other))
}

/// [`alike`] for titles that are normalised already.
pub(super) fn normalised_title_similarity(one: &str, other: &str) -> u32 {
    if one == other {
        return 1000;
    }
    let (one, other) = (collect_word_set(one), collect_word_set(other));
    let total = one.len() + other.len();
    if total == 0 {
        return 0;
    }
    let shared = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    u32::try_from(2000 * shared / total).unwrap_or(1000)
}

fn collect_word_set(title: &str) -> Vec<&str> {
    let mut set: Vec<&str> = title.split(' ').filter(|word| !word.is_empty()).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Runs of letters and digits; where a script has no blanks between words, each character is one.
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

/// From the first of the East Asian scripts on.
fn is_single_char_word(letter: char) -> bool {
    letter >= '\u{2e80}'
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `l88`, as in a link to a line.
fn is_line_mention(word: &str) -> bool {
    word.strip_prefix('l').is_some_and(|number| !number.is_empty() && is_number(number))
}

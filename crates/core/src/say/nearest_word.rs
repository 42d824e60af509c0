//! "Did you mean": finds the most similar valid word.

/// Returns the most similar word, if at most a third of the characters are mistyped.
pub fn find_nearest_word<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.to_lowercase().chars().take(MAX_WORD_CHARS).collect();
    // 0 for two letters: `no` is not a typo of `on`.
    let max_distance = typed.len() / 3;
    let distance = |candidate: &str| edit_distance(&typed, &candidate.chars().collect::<Vec<_>>());
    let (distance, candidate) = among.into_iter().map(|candidate| (distance(candidate), candidate)).min()?;
    (distance <= max_distance).then_some(candidate)
}

/// Longer words are cut before the comparison.
const MAX_WORD_CHARS: usize = 64;

/// Returns the Damerau–Levenshtein distance: insertions, deletions, substitutions and transpositions.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    let at = |i: usize, j: usize| i * width + j;
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let same = i > 0 && j > 0 && a.get(i - 1) == b.get(j - 1);
            let swapped = i > 1 && j > 1 && a.get(i - 1) == b.get(j - 2) && a.get(i - 2) == b.get(j - 1);
            let known = |i: usize, j: usize| table.get(at(i, j)).copied().unwrap_or(usize::MAX);
            let best = [
                (i == 0).then_some(j),
                (j == 0).then_some(i),
                (i > 0).then(|| known(i.saturating_sub(1), j) + 1),
                (j > 0).then(|| known(i, j.saturating_sub(1)) + 1),
                (i > 0 && j > 0).then(|| known(i.saturating_sub(1), j.saturating_sub(1)) + usize::from(!same)),
                swapped.then(|| known(i.saturating_sub(2), j.saturating_sub(2)) + 1),
            ];
            let least = best.into_iter().flatten().min().unwrap_or_default();
            if let Some(cell) = table.get_mut(at(i, j)) {
                *cell = least;
            }
        }
    }
    table.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::find_nearest_word;

    #[test]
    fn a_typo_is_recognised_and_another_word_is_not() {
        let words = ["review", "reply", "resolve"];
        assert_eq!(find_nearest_word("reviw", words), Some("review"));
        assert_eq!(find_nearest_word("reveiw", words), Some("review"));
        assert_eq!(find_nearest_word("REPLY", words), Some("reply"));
        assert_eq!(find_nearest_word("label", words), None);
        assert_eq!(find_nearest_word("no", ["off", "on"]), None);
        assert_eq!(find_nearest_word("ON", ["off", "on"]), Some("on"));
        assert_eq!(find_nearest_word("", words), None);
        assert_eq!(find_nearest_word("x", []), None);
    }
}

//! "Did you mean": the nearest of the words that would have been right.

/// The nearest word, if at most a third of it is mistyped.
pub fn find_nearest_word<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.to_lowercase().chars().take(MAX_WORD_CHARS).collect();
    // None for two letters: whoever writes `no` does not mean `on`.
    let most = typed.len() / 3;
    let far = |candidate: &str| edit_distance(&typed, &candidate.chars().collect::<Vec<_>>());
    let (far, candidate) = among.into_iter().map(|candidate| (far(candidate), candidate)).min()?;
    (far <= most).then_some(candidate)
}

/// What is longer is no slip of the finger.
const MAX_WORD_CHARS: usize = 64;

/// How many letters were added, left out, replaced or swapped with their neighbour.
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
    fn a_slip_is_recognised_and_another_word_is_not() {
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

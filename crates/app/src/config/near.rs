//! "Did you mean": the nearest of the words that would have been right.

/// The nearest word, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = word.to_lowercase().chars().take(64).collect();
    // None for two letters: whoever writes `no` does not mean `on`.
    let most = typed.len() / 3;
    let far = |candidate: &str| distance(&typed, &candidate.chars().collect::<Vec<_>>());
    let (far, candidate) = among.into_iter().map(|candidate| (far(candidate), candidate)).min()?;
    (far <= most).then_some(candidate)
}

/// Letters added, left out, changed, or swapped with their neighbour.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i - 1] == *b && *a == other[j - 1] {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let words = ["review", "reply", "resolve"];
        assert_eq!(nearest("reviw", words), Some("review"));
        assert_eq!(nearest("reveiw", words), Some("review"));
        assert_eq!(nearest("REPLY", words), Some("reply"));
        assert_eq!(nearest("label", words), None);
        assert_eq!(nearest("no", ["off", "on"]), None);
        assert_eq!(nearest("ON", ["off", "on"]), Some("on"));
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("x", []), None);
    }
}

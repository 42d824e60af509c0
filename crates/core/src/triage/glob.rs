//! Path patterns: `*` within a folder, `**` across folders, `?` one character.

/// Whether a path matches. Every position is looked at once, so that no pattern takes long.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let path: Vec<char> = path.chars().collect();
    let mut pattern = pattern.chars().peekable();
    // reach[i]: the pattern so far can end before path[i].
    let mut reach = vec![false; path.len() + 1];
    if let Some(first) = reach.first_mut() {
        *first = true;
    }
    while let Some(c) = pattern.next() {
        let wide = c == '*' && pattern.next_if_eq(&'*').is_some();
        if wide && pattern.next_if_eq(&'/').is_some() {
            reach = after_folders(&reach, &path);
        } else if c == '*' {
            reach = after_run(&reach, &path, |at| wide || at != '/');
        } else {
            reach = after_one(&reach, &path, |at| at == c || (c == '?' && at != '/'));
        }
    }
    reach.last().copied().unwrap_or(false)
}

fn after_one(reach: &[bool], path: &[char], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let moved = reach.iter().zip(path).map(|(here, c)| *here && fits(*c));
    std::iter::once(false).chain(moved).collect()
}

fn after_run(reach: &[bool], path: &[char], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let mut run = false;
    let mut out = Vec::with_capacity(reach.len());
    for (at, here) in reach.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| path.get(before));
        run = *here || (run && before.is_some_and(|c| fits(*c)));
        out.push(run);
    }
    out
}

/// `**/`: nothing, or anything up to and with a slash.
fn after_folders(reach: &[bool], path: &[char]) -> Vec<bool> {
    let mut begun = false;
    let mut out = Vec::with_capacity(reach.len());
    for (at, here) in reach.iter().enumerate() {
        let slash = at.checked_sub(1).and_then(|before| path.get(before)) == Some(&'/');
        out.push(*here || (begun && slash));
        begun |= *here;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_know_folders() {
        for (pattern, path, fits) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/**/*.rs", "src/b/c/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("**/a.rs", "a.rs", true),
            ("**/a.rs", "src/ba.rs", false),
            ("src/**", "src/b/c", true),
            ("s?c/a.rs", "src/a.rs", true),
            ("s?c", "s/c", false),
            ("", "", true),
            ("*", "", true),
            ("**/**/**/**/**/x", "a/b/c/d/e/f/g/h", false),
        ] {
            assert_eq!(matches(pattern, path), fits, "{pattern} {path}");
        }
    }
}

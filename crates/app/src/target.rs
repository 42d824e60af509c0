//! Which pull a command means: the words people write, read without asking anybody.

use std::str::FromStr;

use referee_core::model::PullNumber;

use crate::failure::Failure;

/// Which pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The current branch over the default one.
    Current,
    /// `L7`, or `7` where there is no other forge.
    Pull(PullNumber),
    /// `A..B`.
    Range {
        /// What it goes into.
        base: String,
        /// What changed.
        head: String,
    },
    /// `.`: the work tree over its commit.
    WorkTree,
    /// `staged`: the index over its commit.
    Staged,
    /// A pull of a forge that this build does not speak to.
    Elsewhere(String),
}

impl Target {
    /// Reads the words, if there are any.
    pub(crate) fn read(words: Option<&str>) -> Result<Self, Failure> {
        words.map_or(Ok(Self::Current), str::parse)
    }
}

impl FromStr for Target {
    type Err = Failure;

    fn from_str(words: &str) -> Result<Self, Failure> {
        let words = words.trim();
        match words {
            "." => return Ok(Self::WorkTree),
            "staged" => return Ok(Self::Staged),
            _ => {}
        }
        let number = words.strip_prefix(['L', 'l', '#', '!']).unwrap_or(words);
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = number.parse().map_err(|_| unreadable(words))?;
            return Ok(Self::Pull(PullNumber(number)));
        }
        if let Some((base, head)) = words.split_once("..").filter(|_| !words.contains("://")) {
            // `A...B` is what git calls it; a pull is always measured from where the two parted.
            let head = head.strip_prefix('.').unwrap_or(head);
            let named = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
            return Ok(Self::Range { base: named(base), head: named(head) });
        }
        if words.contains("://") || words.contains(['#', '!']) {
            return Ok(Self::Elsewhere(words.to_owned()));
        }
        Err(unreadable(words))
    }
}

fn unreadable(words: &str) -> Failure {
    Failure::usage(format!("`{words}` names no pull"))
        .hint("write `L7`, `main..HEAD`, `.` for the work tree, or `staged`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_pulls_in_many_ways() {
        let range = |base: &str, head: &str| Target::Range { base: base.to_owned(), head: head.to_owned() };
        for (words, target) in [
            ("L7", Target::Pull(PullNumber(7))),
            ("#7", Target::Pull(PullNumber(7))),
            ("!7", Target::Pull(PullNumber(7))),
            ("7", Target::Pull(PullNumber(7))),
            ("main..topic", range("main", "topic")),
            ("main...topic", range("main", "topic")),
            ("main..", range("main", "HEAD")),
            (".", Target::WorkTree),
            ("staged", Target::Staged),
            ("acme/api#7", Target::Elsewhere("acme/api#7".to_owned())),
            (
                "https://git.example.org/a/b/pulls/7",
                Target::Elsewhere("https://git.example.org/a/b/pulls/7".to_owned()),
            ),
        ] {
            assert_eq!(Target::read(Some(words)).expect(words), target, "{words}");
        }
        assert_eq!(Target::read(None).expect("the current branch"), Target::Current);
        assert!(Target::read(Some("seven")).is_err());
        assert!(Target::read(Some("99999999999999999999")).is_err());
    }
}

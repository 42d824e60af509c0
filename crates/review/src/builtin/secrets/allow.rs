//! What looks like a secret and is none.

use super::pattern::Pattern;

/// One allowlist of the format.
#[derive(Debug)]
pub(super) struct Allow {
    pub(super) paths: Vec<Pattern>,
    pub(super) regexes: Vec<Pattern>,
    pub(super) stopwords: Vec<String>,
    pub(super) target: Target,
    pub(super) condition: Condition,
    /// Only for these rules; empty is all.
    pub(super) rules: Vec<String>,
}

/// What an allowlist's patterns are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Secret,
    Match,
    Line,
}

/// How many of an allowlist's kinds must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Any,
    All,
}

/// What was found, from the narrowest to the widest.
pub(super) struct Candidate<'a> {
    pub(super) path: &'a str,
    pub(super) secret: &'a [u8],
    pub(super) whole: &'a [u8],
    pub(super) line: &'a [u8],
}

impl Allow {
    /// Whether it lets the candidate pass for that rule.
    pub(super) fn lets(&self, rule: &str, candidate: &Candidate<'_>) -> bool {
        if !self.rules.is_empty() && !self.rules.iter().any(|it| it == rule) {
            return false;
        }
        let target = match self.target {
            Target::Secret => candidate.secret,
            Target::Match => candidate.whole,
            Target::Line => candidate.line,
        };
        let path = || self.lets_path(candidate.path);
        let regex = || self.regexes.iter().any(|it| it.is_match(target));
        let word = || {
            let secret = candidate.secret.to_ascii_lowercase();
            self.stopwords.iter().any(|it| contains(&secret, it.as_bytes()))
        };
        match self.condition {
            Condition::Any => path() || regex() || word(),
            Condition::All => {
                (self.paths.is_empty() || path())
                    && (self.regexes.is_empty() || regex())
                    && (self.stopwords.is_empty() || word())
                    && !self.is_empty()
            }
        }
    }

    /// Whether whole files of that path pass.
    pub(super) fn lets_path(&self, path: &str) -> bool {
        self.paths.iter().any(|it| it.is_match(path.as_bytes()))
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.regexes.is_empty() && self.stopwords.is_empty()
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && text.windows(word.len()).any(|part| part == word)
}

//! What looks like a secret and is none.

use super::lazy_regex::LazyRegex;

/// One allowlist of the format.
#[derive(Debug)]
pub(super) struct Allowlist {
    pub(super) paths: Vec<LazyRegex>,
    pub(super) regexes: Vec<LazyRegex>,
    pub(super) stopwords: Vec<String>,
    pub(super) target: AllowlistTarget,
    pub(super) condition: AllowlistCondition,
    /// Only for these rules; empty is all.
    pub(super) rule_ids: Vec<String>,
}

/// What an allowlist's patterns are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowlistTarget {
    Secret,
    Match,
    Line,
}

/// How many of an allowlist's kinds must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowlistCondition {
    Any,
    All,
}

/// What was found, from the narrowest to the widest.
pub(super) struct SecretCandidate<'a> {
    pub(super) path: &'a str,
    pub(super) secret: &'a [u8],
    pub(super) full_match: &'a [u8],
    pub(super) line: &'a [u8],
}

impl Allowlist {
    /// Whether it lets the candidate pass for that rule.
    pub(super) fn allows(&self, rule: &str, candidate: &SecretCandidate<'_>) -> bool {
        if !self.rule_ids.is_empty() && !self.rule_ids.iter().any(|it| it == rule) {
            return false;
        }
        let target = match self.target {
            AllowlistTarget::Secret => candidate.secret,
            AllowlistTarget::Match => candidate.full_match,
            AllowlistTarget::Line => candidate.line,
        };
        let path = || self.allows_path(candidate.path);
        let regex = || self.regexes.iter().any(|it| it.is_match(target));
        let word = || {
            let secret = candidate.secret.to_ascii_lowercase();
            self.stopwords.iter().any(|it| contains_bytes(&secret, it.as_bytes()))
        };
        match self.condition {
            AllowlistCondition::Any => path() || regex() || word(),
            AllowlistCondition::All => {
                (self.paths.is_empty() || path())
                    && (self.regexes.is_empty() || regex())
                    && (self.stopwords.is_empty() || word())
                    && !self.is_empty()
            }
        }
    }

    /// Whether whole files of that path pass.
    pub(super) fn allows_path(&self, path: &str) -> bool {
        self.paths.iter().any(|it| it.is_match(path.as_bytes()))
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.regexes.is_empty() && self.stopwords.is_empty()
    }
}

fn contains_bytes(text: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && text.windows(word.len()).any(|part| part == word)
}

//! Allowlists: exceptions for texts that look like secrets.

use super::lazy_regex::LazyRegex;

/// One allowlist of a gitleaks file.
#[derive(Debug)]
pub(super) struct Allowlist {
    pub(super) paths: Vec<LazyRegex>,
    pub(super) regexes: Vec<LazyRegex>,
    pub(super) stopwords: Vec<String>,
    pub(super) target: AllowlistTarget,
    pub(super) condition: AllowlistCondition,
    /// The rules it applies to; all if empty.
    pub(super) rule_ids: Vec<String>,
}

/// The text that the patterns of an allowlist are matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowlistTarget {
    Secret,
    Match,
    Line,
}

/// How paths, patterns and stopwords of an allowlist are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowlistCondition {
    Any,
    All,
}

/// A possible secret, and the text around it.
pub(super) struct SecretCandidate<'a> {
    pub(super) path: &'a str,
    pub(super) secret: &'a [u8],
    pub(super) full_match: &'a [u8],
    pub(super) line: &'a [u8],
}

impl Allowlist {
    /// Returns whether the candidate is not a secret for that rule.
    pub(super) fn allows(&self, rule: &str, candidate: &SecretCandidate<'_>) -> bool {
        if !self.rule_ids.is_empty() && !self.rule_ids.iter().any(|id| id == rule) {
            return false;
        }
        let target = match self.target {
            AllowlistTarget::Secret => candidate.secret,
            AllowlistTarget::Match => candidate.full_match,
            AllowlistTarget::Line => candidate.line,
        };
        let path = || self.allows_path(candidate.path);
        let regex = || self.regexes.iter().any(|pattern| pattern.is_match(target));
        let word = || {
            let secret = candidate.secret.to_ascii_lowercase();
            self.stopwords.iter().any(|word| contains_bytes(&secret, word.as_bytes()))
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

    pub(super) fn allows_path(&self, path: &str) -> bool {
        self.paths.iter().any(|pattern| pattern.is_match(path.as_bytes()))
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.regexes.is_empty() && self.stopwords.is_empty()
    }
}

fn contains_bytes(text: &[u8], word: &[u8]) -> bool {
    !word.is_empty() && text.windows(word.len()).any(|part| part == word)
}

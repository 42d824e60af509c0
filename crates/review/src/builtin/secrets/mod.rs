//! Finds secrets by their published formats, with rules in the format of gitleaks: a keyword filter comes first, then the
//! pattern, then the minimum entropy and the allowlists.

mod allowlist;
mod gitleaks;
mod lazy_regex;

use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{RegexSet, RegexSetBuilder};

use self::allowlist::{Allowlist, SecretCandidate};
use self::gitleaks::CompileMode;
use self::lazy_regex::LazyRegex;
use super::error::RuleError;

/// More secrets in a row of added lines are most likely test data.
const MAX_SECRETS_PER_RANGE: usize = 200;
/// How much of a line, before and after a secret, an allowlist can match.
const MAX_CONTEXT_BYTES: usize = 1000;

/// The rules of a file, including those it extends.
#[derive(Debug)]
pub(super) struct SecretRuleSet {
    pub(super) rules: Vec<Arc<SecretRule>>,
    allowlists: Vec<Arc<Allowlist>>,
    /// All keywords. One pass over a text shows which rules can match.
    keywords: RegexSet,
    /// The index of the rule of each keyword.
    keyword_rules: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct SecretRule {
    pub(super) id: String,
    pub(super) description: String,
    regex: Option<LazyRegex>,
    path: Option<LazyRegex>,
    capture_group: usize,
    min_entropy: f64,
    keywords: Vec<String>,
    allowlists: Vec<Allowlist>,
}

/// A secret in a text.
pub(super) struct SecretMatch<'r> {
    pub(super) rule: &'r SecretRule,
    /// The byte range of the secret; `None` if only the file name matched.
    pub(super) range: Option<Range<usize>>,
}

impl SecretRuleSet {
    /// Parses the rules embedded in the program. A test compiles each pattern, so they are compiled lazily.
    pub(super) fn parse_embedded(path: &str, text: &str) -> Result<Self, RuleError> {
        gitleaks::parse_config(path, text, None, CompileMode::Lazy)
    }

    /// Parses the rules of a repository, which may extend these.
    pub(super) fn extend_with(&self, path: &str, text: &str) -> Result<Self, RuleError> {
        gitleaks::parse_config(path, text, Some(self), CompileMode::Eager)
    }

    fn new(rules: Vec<Arc<SecretRule>>, allowlists: Vec<Arc<Allowlist>>) -> Result<Self, regex::Error> {
        let words = || rules.iter().enumerate().flat_map(|(at, rule)| rule.keywords.iter().map(move |word| (at, word)));
        let keywords = RegexSetBuilder::new(words().map(|(_, word)| regex::escape(word)))
            .case_insensitive(true)
            .unicode(false)
            .build()?;
        let keyword_rules = words().map(|(at, _)| at).collect();
        Ok(Self { rules, allowlists, keywords, keyword_rules })
    }

    /// Returns whether an allowlist excludes a whole file by its path.
    pub(super) fn skips_path(&self, path: &str) -> bool {
        self.allowlists.iter().any(|list| {
            list.rule_ids.is_empty() && list.condition == allowlist::AllowlistCondition::Any && list.allows_path(path)
        })
    }

    /// Returns matches of rules that look at the file name alone.
    pub(super) fn find_in_path(&self, path: &str) -> impl Iterator<Item = SecretMatch<'_>> {
        let matches_name = |rule: &&Arc<SecretRule>| {
            rule.regex.is_none() && rule.path.as_ref().is_some_and(|pattern| pattern.is_match(path.as_bytes()))
        };
        self.rules.iter().filter(matches_name).map(|rule| SecretMatch { rule, range: None })
    }

    /// Returns the secrets in `part` of a text, in ascending order. Of overlapping matches the first rule wins.
    pub(super) fn find_in_text<'s>(&'s self, path: &str, text: &[u8], part: Range<usize>) -> Vec<SecretMatch<'s>> {
        let mut wanted: Vec<bool> = self.rules.iter().map(|rule| rule.keywords.is_empty()).collect();
        for word in self.keywords.matches(&text[part.clone()]) {
            wanted[self.keyword_rules[word]] = true;
        }
        let mut found: Vec<(Range<usize>, &SecretRule)> = Vec::new();
        for (rule, _) in self.rules.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            if rule.path.as_ref().is_some_and(|pattern| !pattern.is_match(path.as_bytes())) {
                continue;
            }
            let Some(regex) = rule.regex.as_ref().and_then(LazyRegex::regex) else { continue };
            for hit in regex.captures_iter(&text[part.clone()]) {
                let Some(whole) = hit.get(0) else { continue };
                let group = if rule.capture_group > 0 {
                    hit.get(rule.capture_group)
                } else {
                    hit.iter().skip(1).flatten().find(|group| !group.is_empty())
                };
                let secret = group.unwrap_or(whole);
                let range = part.start + secret.start()..part.start + secret.end();
                let candidate = SecretCandidate {
                    path,
                    secret: secret.as_bytes(),
                    full_match: whole.as_bytes(),
                    line: &text[surrounding_lines(text, &range)],
                };
                let overlaps = found.iter().any(|(other, _)| other.start < range.end && range.start < other.end);
                if found.len() < MAX_SECRETS_PER_RANGE && !overlaps && self.is_secret(rule, &candidate) {
                    found.push((range, rule));
                }
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        found.into_iter().map(|(range, rule)| SecretMatch { rule, range: Some(range) }).collect()
    }

    fn is_secret(&self, rule: &SecretRule, candidate: &SecretCandidate<'_>) -> bool {
        let is_allowed = |list: &Allowlist| list.allows(&rule.id, candidate);
        (rule.min_entropy <= 0.0 || shannon_entropy(candidate.secret) > rule.min_entropy)
            && !rule.allowlists.iter().any(is_allowed)
            && !self.allowlists.iter().any(|list| is_allowed(list))
    }
}

/// Returns the lines around a range, at most [`MAX_CONTEXT_BYTES`] on either side.
fn surrounding_lines(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let (first, last) = (range.start.saturating_sub(MAX_CONTEXT_BYTES), text.len().min(range.end + MAX_CONTEXT_BYTES));
    let start = text[first..range.start].iter().rposition(|byte| *byte == b'\n').map_or(first, |at| first + at + 1);
    let end = text[range.end..last].iter().position(|byte| *byte == b'\n').map_or(last, |at| range.end + at);
    start..end
}

/// Returns the Shannon entropy in bits per byte: words have about 3, random letters and digits more than 4.
fn shannon_entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let total = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

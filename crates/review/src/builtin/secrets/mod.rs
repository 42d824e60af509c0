//! Secrets by their published shapes: rules in gitleaks' format, a keyword filter before them, entropy after them.

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

/// More secrets in one run of lines are a list of samples, and nobody reads that many findings.
const MAX_SECRETS_PER_RANGE: usize = 200;
/// How much of a line an allowlist sees.
const MAX_CONTEXT_BYTES: usize = 1000;

/// The rules of one file, or of two of which one extends the other.
#[derive(Debug)]
pub(super) struct SecretRuleSet {
    pub(super) rules: Vec<Arc<SecretRule>>,
    allowlists: Vec<Arc<Allowlist>>,
    /// One pass over a text tells which rules can match at all.
    keywords: RegexSet,
    /// The rule of each keyword.
    keyword_rules: Vec<usize>,
}

/// One rule of the format.
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
    /// Its bytes; none where the file's name alone gives it away.
    pub(super) range: Option<Range<usize>>,
}

impl SecretRuleSet {
    /// The rules that the program brings; a test compiles each pattern.
    pub(super) fn parse_embedded(path: &str, text: &str) -> Result<Self, RuleError> {
        gitleaks::parse_config(path, text, None, CompileMode::Lazy)
    }

    /// The rules of a repository, which may extend these.
    pub(super) fn extend_with(&self, path: &str, text: &str) -> Result<Self, RuleError> {
        gitleaks::parse_config(path, text, Some(self), CompileMode::Eager)
    }

    fn new(rules: Vec<Arc<SecretRule>>, allow: Vec<Arc<Allowlist>>) -> Result<Self, regex::Error> {
        let words = || rules.iter().enumerate().flat_map(|(at, rule)| rule.keywords.iter().map(move |it| (at, it)));
        let keywords = RegexSetBuilder::new(words().map(|(_, word)| regex::escape(word)))
            .case_insensitive(true)
            .unicode(false)
            .build()?;
        let of = words().map(|(at, _)| at).collect();
        Ok(Self { rules, allowlists: allow, keywords, keyword_rules: of })
    }

    /// Whether a file of that path is not looked at.
    pub(super) fn skips_path(&self, path: &str) -> bool {
        self.allowlists.iter().any(|it| {
            it.rule_ids.is_empty() && it.condition == allowlist::AllowlistCondition::Any && it.allows_path(path)
        })
    }

    /// What a file's name gives away.
    pub(super) fn find_in_path(&self, path: &str) -> impl Iterator<Item = SecretMatch<'_>> {
        let named = |rule: &&Arc<SecretRule>| {
            rule.regex.is_none() && rule.path.as_ref().is_some_and(|it| it.is_match(path.as_bytes()))
        };
        self.rules.iter().filter(named).map(|rule| SecretMatch { rule, range: None })
    }

    /// The secrets in `part` of a text, in its order; where rules overlap, the first one has it.
    pub(super) fn find_in_text<'s>(&'s self, path: &str, text: &[u8], part: Range<usize>) -> Vec<SecretMatch<'s>> {
        let mut wanted: Vec<bool> = self.rules.iter().map(|rule| rule.keywords.is_empty()).collect();
        for word in self.keywords.matches(&text[part.clone()]) {
            wanted[self.keyword_rules[word]] = true;
        }
        let mut found: Vec<(Range<usize>, &SecretRule)> = Vec::new();
        for (rule, _) in self.rules.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            if rule.path.as_ref().is_some_and(|it| !it.is_match(path.as_bytes())) {
                continue;
            }
            let Some(regex) = rule.regex.as_ref().and_then(LazyRegex::regex) else { continue };
            for hit in regex.captures_iter(&text[part.clone()]) {
                let Some(whole) = hit.get(0) else { continue };
                let group = if rule.capture_group > 0 {
                    hit.get(rule.capture_group)
                } else {
                    hit.iter().skip(1).flatten().find(|it| !it.is_empty())
                };
                let secret = group.unwrap_or(whole);
                let range = part.start + secret.start()..part.start + secret.end();
                let candidate = SecretCandidate {
                    path,
                    secret: secret.as_bytes(),
                    full_match: whole.as_bytes(),
                    line: &text[surrounding_lines(text, &range)],
                };
                let taken = found.iter().any(|(it, _)| it.start < range.end && range.start < it.end);
                if found.len() < MAX_SECRETS_PER_RANGE && !taken && self.is_secret(rule, &candidate) {
                    found.push((range, rule));
                }
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        found.into_iter().map(|(range, rule)| SecretMatch { rule, range: Some(range) }).collect()
    }

    fn is_secret(&self, rule: &SecretRule, candidate: &SecretCandidate<'_>) -> bool {
        let lets = |it: &Allowlist| it.allows(&rule.id, candidate);
        (rule.min_entropy <= 0.0 || shannon_entropy(candidate.secret) > rule.min_entropy)
            && !rule.allowlists.iter().any(lets)
            && !self.allowlists.iter().any(|it| lets(it))
    }
}

/// The line or lines that a range lies in; of a line without end only what is near.
fn surrounding_lines(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let (first, last) = (range.start.saturating_sub(MAX_CONTEXT_BYTES), text.len().min(range.end + MAX_CONTEXT_BYTES));
    let start = text[first..range.start].iter().rposition(|byte| *byte == b'\n').map_or(first, |at| first + at + 1);
    let end = text[range.end..last].iter().position(|byte| *byte == b'\n').map_or(last, |at| range.end + at);
    start..end
}

/// How many bits a byte of the text carries: words about 3, random letters and digits above 4.
fn shannon_entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let all = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

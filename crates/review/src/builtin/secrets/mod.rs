//! Secrets by their published shapes: rules in gitleaks' format, a keyword filter before them, entropy after them.

mod allow;
mod config;
mod pattern;

use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{RegexSet, RegexSetBuilder};

use self::allow::{Allow, Candidate};
use self::config::Compile;
use self::pattern::Pattern;
use super::error::RuleError;

/// More secrets in one run of lines are a list of samples, and nobody reads that many findings.
const MOST: usize = 200;
/// How much of a line an allowlist sees.
const NEAR: usize = 1000;

/// The rules of one file, or of two of which one extends the other.
#[derive(Debug)]
pub(super) struct Secrets {
    pub(super) rules: Vec<Arc<SecretRule>>,
    allow: Vec<Arc<Allow>>,
    /// One pass over a text tells which rules can match at all.
    keywords: RegexSet,
    /// The rule of each keyword.
    of: Vec<usize>,
}

/// One rule of the format.
#[derive(Debug)]
pub(super) struct SecretRule {
    pub(super) id: String,
    pub(super) description: String,
    regex: Option<Pattern>,
    path: Option<Pattern>,
    group: usize,
    entropy: f64,
    keywords: Vec<String>,
    allow: Vec<Allow>,
}

/// A secret in a text.
pub(super) struct Secret<'r> {
    pub(super) rule: &'r SecretRule,
    /// Its bytes; none where the file's name alone gives it away.
    pub(super) range: Option<Range<usize>>,
}

impl Secrets {
    /// The rules that the program brings; a test compiles each pattern.
    pub(super) fn embedded(path: &str, text: &str) -> Result<Self, RuleError> {
        config::read(path, text, None, Compile::Later)
    }

    /// The rules of a repository, which may extend these.
    pub(super) fn extended(&self, path: &str, text: &str) -> Result<Self, RuleError> {
        config::read(path, text, Some(self), Compile::Now)
    }

    fn new(rules: Vec<Arc<SecretRule>>, allow: Vec<Arc<Allow>>) -> Result<Self, regex::Error> {
        let words = || rules.iter().enumerate().flat_map(|(at, rule)| rule.keywords.iter().map(move |it| (at, it)));
        let keywords = RegexSetBuilder::new(words().map(|(_, word)| regex::escape(word)))
            .case_insensitive(true)
            .unicode(false)
            .build()?;
        let of = words().map(|(at, _)| at).collect();
        Ok(Self { rules, allow, keywords, of })
    }

    /// Whether a file of that path is not looked at.
    pub(super) fn passes(&self, path: &str) -> bool {
        self.allow.iter().any(|it| it.rules.is_empty() && it.condition == allow::Condition::Any && it.lets_path(path))
    }

    /// What a file's name gives away.
    pub(super) fn in_name(&self, path: &str) -> impl Iterator<Item = Secret<'_>> {
        let named = |rule: &&Arc<SecretRule>| {
            rule.regex.is_none() && rule.path.as_ref().is_some_and(|it| it.is_match(path.as_bytes()))
        };
        self.rules.iter().filter(named).map(|rule| Secret { rule, range: None })
    }

    /// The secrets in `part` of a text, in its order; where rules overlap, the first one has it.
    pub(super) fn in_text<'s>(&'s self, path: &str, text: &[u8], part: Range<usize>) -> Vec<Secret<'s>> {
        let mut wanted: Vec<bool> = self.rules.iter().map(|rule| rule.keywords.is_empty()).collect();
        for word in self.keywords.matches(&text[part.clone()]) {
            wanted[self.of[word]] = true;
        }
        let mut found: Vec<(Range<usize>, &SecretRule)> = Vec::new();
        for (rule, _) in self.rules.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            if rule.path.as_ref().is_some_and(|it| !it.is_match(path.as_bytes())) {
                continue;
            }
            let Some(regex) = rule.regex.as_ref().and_then(Pattern::regex) else { continue };
            for hit in regex.captures_iter(&text[part.clone()]) {
                let Some(whole) = hit.get(0) else { continue };
                let group = if rule.group > 0 {
                    hit.get(rule.group)
                } else {
                    hit.iter().skip(1).flatten().find(|it| !it.is_empty())
                };
                let secret = group.unwrap_or(whole);
                let range = part.start + secret.start()..part.start + secret.end();
                let candidate = Candidate {
                    path,
                    secret: secret.as_bytes(),
                    whole: whole.as_bytes(),
                    line: &text[around(text, &range)],
                };
                let taken = found.iter().any(|(it, _)| it.start < range.end && range.start < it.end);
                if found.len() < MOST && !taken && self.counts(rule, &candidate) {
                    found.push((range, rule));
                }
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        found.into_iter().map(|(range, rule)| Secret { rule, range: Some(range) }).collect()
    }

    fn counts(&self, rule: &SecretRule, candidate: &Candidate<'_>) -> bool {
        let lets = |it: &Allow| it.lets(&rule.id, candidate);
        (rule.entropy <= 0.0 || entropy(candidate.secret) > rule.entropy)
            && !rule.allow.iter().any(lets)
            && !self.allow.iter().any(|it| lets(it))
    }
}

/// The line or lines that a range lies in; of a line without end only what is near.
fn around(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let (first, last) = (range.start.saturating_sub(NEAR), text.len().min(range.end + NEAR));
    let start = text[first..range.start].iter().rposition(|byte| *byte == b'\n').map_or(first, |at| first + at + 1);
    let end = text[range.end..last].iter().position(|byte| *byte == b'\n').map_or(last, |at| range.end + at);
    start..end
}

/// How many bits a byte of the text carries: words about 3, random letters and digits above 4.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let all = text.len() as f64;
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

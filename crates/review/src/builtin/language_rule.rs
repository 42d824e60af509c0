//! Language rules: the format and the matcher of ast-grep, and a tree walk of our own that stays on changed lines.

use std::time::Instant;

use ast_grep_config::{
    GlobalRules, RuleCollection, RuleConfig, RuleConfigError, SerializableRuleConfig, from_multiple, from_str,
    from_yaml_string,
};
use ast_grep_core::Matcher;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, NodeMatch};
use ast_grep_language::SupportLang;
use serde::Deserialize;

use super::error::RuleError;
use super::line_index::LineRanges;

pub(super) type LanguageRule = RuleConfig<SupportLang>;
pub(super) type RuleMatch<'t> = NodeMatch<'t, StrDoc<SupportLang>>;

/// The languages whose grammars are built in. The library panics on any other.
pub(super) const LANGUAGES: [SupportLang; 6] = [
    SupportLang::Go,
    SupportLang::JavaScript,
    SupportLang::Python,
    SupportLang::Rust,
    SupportLang::Tsx,
    SupportLang::TypeScript,
];

/// Deeper nodes are not scanned: rules that look at ancestors take quadratic time there. People do not nest that deep.
const MAX_NODE_DEPTH: u32 = 400;

/// The fields of a rule file other than the rule itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RuleHeader {
    #[serde(default)]
    pub(super) id: String,
    pub(super) language: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) note: String,
    #[serde(default)]
    pub(super) severity: ast_grep_config::Severity,
    #[serde(default)]
    pub(super) metadata: RuleMetadata,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct RuleMetadata {
    #[serde(default)]
    pub(super) why: String,
    /// The class of defects that the rule finds. Of several findings of a class on a line, one is reported.
    #[serde(default)]
    pub(super) class: String,
}

/// Parses the rules of a file and their headers.
pub(super) fn parse_rules(path: &str, text: &str) -> Result<Vec<(RuleHeader, LanguageRule)>, RuleError> {
    // The line has a field of its own, so it is cut from the message.
    let yaml_error = |error: String, line: Option<u64>| {
        let line = line.and_then(|line| usize::try_from(line).ok()).unwrap_or(1);
        let first = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let reason = first.strip_prefix(&format!("line {line} column ")).and_then(|rest| rest.split_once(": "));
        RuleError::from_reason(path, line, reason.map_or(first, |(_, reason)| reason).to_owned())
    };
    let headers: Vec<RuleHeader> = from_multiple(text)
        .map_err(|error| yaml_error(error.to_string(), error.location().map(|location| location.line())))?;
    for header in &headers {
        let at = find_key_line(text, "language", &header.language);
        let language = header.language.parse().ok().filter(|language| LANGUAGES.contains(language));
        if language.is_none() {
            let known = LANGUAGES.map(|language| format!("`{}`", language.to_string().to_lowercase())).join(", ");
            let reason = format!("the language `{}` is not supported; use one of {known}", header.language);
            return Err(RuleError::from_reason(path, at, reason));
        }
        if header.id.is_empty() {
            return Err(RuleError::from_reason(path, at, "the rule has no `id`".to_owned()));
        }
    }
    let rules = from_yaml_string(text, &GlobalRules::default()).map_err(|error| match &error {
        RuleConfigError::Yaml(inner) => yaml_error(inner.to_string(), inner.location().map(|location| location.line())),
        _ => RuleError::new(path, find_rule_line(text, &headers), &error),
    })?;
    Ok(headers.into_iter().zip(rules).collect())
}

/// Parses the header of a file with one rule.
pub(super) fn parse_header(path: &str, text: &str) -> Result<RuleHeader, RuleError> {
    from_str(text).map_err(|error| RuleError::new(path, 1, &error))
}

/// Compiles the rule of a file with one rule for `language`, which may differ from the one in the file.
pub(super) fn compile_rule(path: &str, text: &str, language: SupportLang) -> Result<LanguageRule, RuleError> {
    let mut rule: SerializableRuleConfig<SupportLang> =
        from_str(text).map_err(|error| RuleError::new(path, 1, &error))?;
    rule.language = language;
    RuleConfig::try_from(rule, &GlobalRules::default()).map_err(|error| RuleError::new(path, 1, &error))
}

/// Groups rules by language and by the files they apply to.
pub(super) fn group_rules(path: &str, rules: Vec<LanguageRule>) -> Result<RuleCollection<SupportLang>, RuleError> {
    RuleCollection::try_new(rules).map_err(|error| RuleError::new(path, 1, &error))
}

fn find_key_line(text: &str, key: &str, value: &str) -> usize {
    let matches = |line: &str| {
        line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')).is_some_and(|rest| rest.contains(value))
    };
    text.lines().position(matches).map_or(1, |at| at + 1)
}

/// Returns the line of the rule with the error. The library does not say which of several rules it is; then this is 1.
fn find_rule_line(text: &str, headers: &[RuleHeader]) -> usize {
    match headers {
        [_] => find_key_line(text, "rule", ""),
        _ => 1,
    }
}

/// The scan reached its deadline.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScanTimeout;

/// The rules of one language, indexed by the kinds of node that they can match.
pub(super) struct LanguageScanner<'r> {
    rules: Vec<&'r LanguageRule>,
    rules_by_node_kind: Vec<Vec<usize>>,
}

impl<'r> LanguageScanner<'r> {
    pub(super) fn new(rules: Vec<&'r LanguageRule>) -> Self {
        let mut by_kind: Vec<Vec<usize>> = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            for kind in rule.matcher.potential_kinds().iter().flatten() {
                if by_kind.len() <= kind {
                    by_kind.resize_with(kind + 1, Vec::new);
                }
                by_kind[kind].push(at);
            }
        }
        Self { rules, rules_by_node_kind: by_kind }
    }

    /// Returns whether the scanner was built from the same rule objects.
    pub(super) fn has_rules(&self, rules: &[&LanguageRule]) -> bool {
        self.rules.len() == rules.len() && self.rules.iter().zip(rules).all(|(one, other)| std::ptr::eq(*one, *other))
    }

    /// Matches every node that touches an added line, and stops at the deadline.
    pub(super) fn for_each_match<'t>(
        &self,
        tree: &'t AstGrep<StrDoc<SupportLang>>,
        added: &LineRanges,
        deadline: Instant,
        mut on_match: impl FnMut(&'r LanguageRule, &RuleMatch<'t>),
    ) -> Result<(), ScanTimeout> {
        let mut unvisited = vec![(tree.root(), 0)];
        while let Some((node, depth)) = unvisited.pop() {
            // A subtree without an added line contains no match to report.
            if !added.intersects(&node_lines(&node)) {
                continue;
            }
            let candidates = self.rules_by_node_kind.get(usize::from(node.kind_id())).map_or(&[][..], Vec::as_slice);
            if !candidates.is_empty() && Instant::now() > deadline {
                return Err(ScanTimeout);
            }
            for at in candidates {
                if let Some(hit) = self.rules[*at].matcher.match_node(node.clone()) {
                    on_match(self.rules[*at], &hit);
                }
            }
            if depth < MAX_NODE_DEPTH {
                unvisited.extend(node.children().map(|child| (child, depth + 1)));
            }
        }
        Ok(())
    }
}

/// Returns the lines of a node, counted from 1. A node that ends with a line feed does not include the next line.
pub(super) fn node_lines(node: &ast_grep_core::Node<'_, StrDoc<SupportLang>>) -> std::ops::RangeInclusive<u32> {
    let (start, end) = (node.start_pos(), node.end_pos());
    let last = if end.byte_point().1 == 0 && end.line() > start.line() { end.line() } else { end.line() + 1 };
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    number(start.line() + 1)..=number(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_stops_at_its_deadline() {
        let text = "id: a\nlanguage: python\nrule: { pattern: f($X) }\n";
        let rules: Vec<LanguageRule> =
            parse_rules("a.yml", text).expect("it can be read").into_iter().map(|(_, rule)| rule).collect();
        let tree = AstGrep::try_new("f(1)\nf(2)\n", SupportLang::Python).expect("it can be parsed");
        let (scan, lines) = (LanguageScanner::new(rules.iter().collect()), LineRanges::from_iter([1..=2]));
        let now = Instant::now();
        assert_eq!(scan.for_each_match(&tree, &lines, now, |_, _| ()), Err(ScanTimeout));
        let mut found = 0;
        let later = now + std::time::Duration::from_secs(3600);
        assert_eq!(scan.for_each_match(&tree, &lines, later, |_, _| found += 1), Ok(()));
        assert_eq!(found, 2);
    }
}

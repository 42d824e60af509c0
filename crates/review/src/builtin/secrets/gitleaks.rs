//! Parses the format of gitleaks: a TOML file of rules and allowlists.

use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::allowlist::{Allowlist, AllowlistCondition, AllowlistTarget};
use super::lazy_regex::LazyRegex;
use super::{SecretRule, SecretRuleSet};
use crate::builtin::error::{RuleError, line_number_at};

#[derive(Deserialize)]
struct GitleaksConfig {
    #[serde(default)]
    extend: GitleaksExtend,
    #[serde(default)]
    rules: Vec<GitleaksRule>,
    allowlist: Option<GitleaksAllowlist>,
    #[serde(default)]
    allowlists: Vec<GitleaksAllowlist>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GitleaksExtend {
    #[serde(default)]
    use_default: bool,
    path: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    disabled_rules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GitleaksRule {
    id: String,
    #[serde(default)]
    description: String,
    regex: Option<Spanned<String>>,
    path: Option<Spanned<String>>,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    allowlist: Option<GitleaksAllowlist>,
    #[serde(default)]
    allowlists: Vec<GitleaksAllowlist>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GitleaksAllowlist {
    #[serde(default)]
    paths: Vec<Spanned<String>>,
    #[serde(default)]
    regexes: Vec<Spanned<String>>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    regex_target: String,
    #[serde(default)]
    condition: String,
    #[serde(default)]
    target_rules: Vec<String>,
}

/// When patterns are compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CompileMode {
    /// When first needed. For embedded rules: a test has compiled them.
    Lazy,
    /// At once, so that a pattern that does not compile is an error.
    Eager,
}

/// Parses a file. `base` are the rules that it may extend.
pub(super) fn parse_config(
    path: &str,
    text: &str,
    base: Option<&SecretRuleSet>,
    compile_mode: CompileMode,
) -> Result<SecretRuleSet, RuleError> {
    let config: GitleaksConfig = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_number_at(text, span.start));
        RuleError::from_reason(path, line, error.message().to_owned())
    })?;
    let parser = GitleaksParser { path, text, compile_mode };
    if let Some(other) = config.extend.path.as_ref().or(config.extend.url.as_ref()) {
        let reason = format!("`{}` cannot be extended: only the default rules can", other.get_ref());
        return Err(RuleError::from_reason(path, line_number_at(text, other.span().start), reason));
    }
    let own: Vec<Arc<SecretRule>> =
        config.rules.into_iter().map(|entry| parser.build_rule(entry)).collect::<Result<_, _>>()?;
    let own_allowlists = parser.build_allowlists(config.allowlist, config.allowlists)?;
    let (mut rules, mut allowlists) = (Vec::new(), Vec::new());
    if let Some(base) = base.filter(|_| config.extend.use_default) {
        let is_replaced =
            |id: &String| config.extend.disabled_rules.contains(id) || own.iter().any(|rule| rule.id == *id);
        rules.extend(base.rules.iter().filter(|rule| !is_replaced(&rule.id)).cloned());
        allowlists.extend(base.allowlists.iter().cloned());
    }
    // The rules of the repository come first: if two rules find a secret, the first one reports it.
    let rules = own.into_iter().chain(rules).collect();
    allowlists.extend(own_allowlists.into_iter().map(Arc::new));
    SecretRuleSet::new(rules, allowlists).map_err(|error| RuleError::new(path, 1, &error))
}

struct GitleaksParser<'a> {
    path: &'a str,
    text: &'a str,
    compile_mode: CompileMode,
}

impl GitleaksParser<'_> {
    fn build_rule(&self, entry: GitleaksRule) -> Result<Arc<SecretRule>, RuleError> {
        Ok(Arc::new(SecretRule {
            regex: entry.regex.map(|source| self.build_pattern(source)).transpose()?,
            path: entry.path.map(|source| self.build_pattern(source)).transpose()?,
            allowlists: self.build_allowlists(entry.allowlist, entry.allowlists)?,
            keywords: entry.keywords.iter().map(|word| word.to_ascii_lowercase()).collect(),
            capture_group: entry.secret_group,
            min_entropy: entry.entropy,
            description: entry.description,
            id: entry.id,
        }))
    }

    fn build_allowlists(
        &self,
        one: Option<GitleaksAllowlist>,
        more: Vec<GitleaksAllowlist>,
    ) -> Result<Vec<Allowlist>, RuleError> {
        one.into_iter().chain(more).map(|list| self.build_allowlist(list)).collect()
    }

    fn build_allowlist(&self, list: GitleaksAllowlist) -> Result<Allowlist, RuleError> {
        let patterns = |list: Vec<Spanned<String>>| -> Result<Vec<LazyRegex>, RuleError> {
            list.into_iter().map(|source| self.build_pattern(source)).collect()
        };
        Ok(Allowlist {
            paths: patterns(list.paths)?,
            regexes: patterns(list.regexes)?,
            stopwords: list.stopwords.iter().map(|word| word.to_ascii_lowercase()).collect(),
            target: match list.regex_target.as_str() {
                "match" => AllowlistTarget::Match,
                "line" => AllowlistTarget::Line,
                _ => AllowlistTarget::Secret,
            },
            condition: if matches!(list.condition.as_str(), "AND" | "&&" | "and") {
                AllowlistCondition::All
            } else {
                AllowlistCondition::Any
            },
            rule_ids: list.target_rules,
        })
    }

    fn build_pattern(&self, source: Spanned<String>) -> Result<LazyRegex, RuleError> {
        let line = line_number_at(self.text, source.span().start);
        let pattern = LazyRegex::new(source.into_inner());
        if self.compile_mode == CompileMode::Eager {
            pattern
                .compile_now()
                .map_err(|error| RuleError::from_reason(self.path, line, describe_regex_error(&error)))?;
        }
        Ok(pattern)
    }
}

/// Returns the last line of the error, which holds the reason; the lines before show the pattern with carets.
fn describe_regex_error(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("the pattern does not compile: {}", last.trim_start_matches("error: "))
}

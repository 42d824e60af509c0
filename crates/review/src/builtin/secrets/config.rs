//! The format of gitleaks: a TOML file of rules and allowlists.

use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::allow::{Allow, Condition, Target};
use super::pattern::Pattern;
use super::{SecretRule, Secrets};
use crate::builtin::error::{RuleError, line_of};

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    extend: Extend,
    #[serde(default)]
    rules: Vec<Entry>,
    allowlist: Option<List>,
    #[serde(default)]
    allowlists: Vec<List>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extend {
    #[serde(default)]
    use_default: bool,
    path: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
    #[serde(default)]
    disabled_rules: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
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
    allowlist: Option<List>,
    #[serde(default)]
    allowlists: Vec<List>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
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
pub(super) enum Compile {
    /// When first needed: a test knows that they do.
    Later,
    /// At once, and one that does not is an error.
    Now,
}

/// Reads a file. `base` are the rules that it may extend.
pub(super) fn read(path: &str, text: &str, base: Option<&Secrets>, when: Compile) -> Result<Secrets, RuleError> {
    let config: Config = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        RuleError::said(path, line, error.message().to_owned())
    })?;
    let reader = Reader { path, text, when };
    if let Some(other) = config.extend.path.as_ref().or(config.extend.url.as_ref()) {
        let reason = format!("`{}` is not read: a file can extend the default rules alone", other.get_ref());
        return Err(RuleError::said(path, line_of(text, other.span().start), reason));
    }
    let own: Vec<Arc<SecretRule>> = config.rules.into_iter().map(|it| reader.rule(it)).collect::<Result<_, _>>()?;
    let own_allow = reader.lists(config.allowlist, config.allowlists)?;
    let (mut rules, mut allow) = (Vec::new(), Vec::new());
    if let Some(base) = base.filter(|_| config.extend.use_default) {
        let off = |id: &String| config.extend.disabled_rules.contains(id) || own.iter().any(|it| it.id == *id);
        rules.extend(base.rules.iter().filter(|rule| !off(&rule.id)).cloned());
        allow.extend(base.allow.iter().cloned());
    }
    // The repository's own come first: where two rules find one secret, the first one reports it.
    let rules = own.into_iter().chain(rules).collect();
    allow.extend(own_allow.into_iter().map(Arc::new));
    Secrets::new(rules, allow).map_err(|error| RuleError::new(path, 1, &error))
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    when: Compile,
}

impl Reader<'_> {
    fn rule(&self, entry: Entry) -> Result<Arc<SecretRule>, RuleError> {
        Ok(Arc::new(SecretRule {
            regex: entry.regex.map(|it| self.pattern(it)).transpose()?,
            path: entry.path.map(|it| self.pattern(it)).transpose()?,
            allow: self.lists(entry.allowlist, entry.allowlists)?,
            keywords: entry.keywords.iter().map(|it| it.to_ascii_lowercase()).collect(),
            group: entry.secret_group,
            entropy: entry.entropy,
            description: entry.description,
            id: entry.id,
        }))
    }

    fn lists(&self, one: Option<List>, more: Vec<List>) -> Result<Vec<Allow>, RuleError> {
        one.into_iter().chain(more).map(|it| self.list(it)).collect()
    }

    fn list(&self, list: List) -> Result<Allow, RuleError> {
        let patterns = |list: Vec<Spanned<String>>| -> Result<Vec<Pattern>, RuleError> {
            list.into_iter().map(|it| self.pattern(it)).collect()
        };
        Ok(Allow {
            paths: patterns(list.paths)?,
            regexes: patterns(list.regexes)?,
            stopwords: list.stopwords.iter().map(|it| it.to_ascii_lowercase()).collect(),
            target: match list.regex_target.as_str() {
                "match" => Target::Match,
                "line" => Target::Line,
                _ => Target::Secret,
            },
            condition: if matches!(list.condition.as_str(), "AND" | "&&" | "and") {
                Condition::All
            } else {
                Condition::Any
            },
            rules: list.target_rules,
        })
    }

    fn pattern(&self, source: Spanned<String>) -> Result<Pattern, RuleError> {
        let line = line_of(self.text, source.span().start);
        let pattern = Pattern::new(source.into_inner());
        if self.when == Compile::Now {
            pattern.check().map_err(|error| RuleError::said(self.path, line, why(&error)))?;
        }
        Ok(pattern)
    }
}

/// The library draws the pattern with carets; the last line says what is wrong.
fn why(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    format!("the pattern does not compile: {}", last.trim_start_matches("error: "))
}

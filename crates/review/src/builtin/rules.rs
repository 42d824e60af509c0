//! The rules of a review: the embedded ones and those of the repository.

use std::sync::{Arc, OnceLock};

use ast_grep_config::RuleCollection;
use ast_grep_language::SupportLang;
use referee_core::hash::Hash;

use super::embedded_files::{LANGUAGE_RULES, SECRET_RULES, SECRET_RULES_PATH, TEXT_RULES};
use super::error::RuleError;
use super::language_rule::{self, LANGUAGES, LanguageRule, RuleHeader};
use super::rule_page::RulePage;
use super::secrets::SecretRuleSet;
use super::text_rule::TextRule;
use crate::levels::RuleLevels;

/// The file with the secret rules of a repository. All other rule files are in the format of ast-grep.
pub const REPOSITORY_SECRET_RULES: &str = ".gitleaks.toml";

/// The rules of one review.
pub struct RuleSet {
    embedded: &'static EmbeddedRules,
    repository_rules: RuleCollection<SupportLang>,
    repository_headers: Vec<RuleHeader>,
    /// Digest of the repository's rule files.
    repository_digest: Option<Hash>,
    secret_rules: Arc<SecretRuleSet>,
    levels: RuleLevels,
    broken: Vec<RuleError>,
}

/// The rules embedded in the program, parsed once.
struct EmbeddedRules {
    /// In the order of [`LANGUAGE_RULES`].
    headers: Vec<RuleHeader>,
    /// In the order of [`LANGUAGES`], each compiled when first needed: compiling is slow, and most changes are in one
    /// language.
    compiled: [OnceLock<RuleCollection<SupportLang>>; LANGUAGES.len()],
    text_rules: Vec<TextRule>,
    secret_rules: Arc<SecretRuleSet>,
}

impl RuleSet {
    /// Returns the rules embedded in the program.
    pub fn load_embedded() -> Result<Self, RuleError> {
        static EMBEDDED: OnceLock<Result<EmbeddedRules, RuleError>> = OnceLock::new();
        let embedded = EMBEDDED.get_or_init(EmbeddedRules::load).as_ref().map_err(Clone::clone)?;
        Ok(Self {
            embedded,
            repository_rules: RuleCollection::default(),
            repository_headers: Vec::new(),
            repository_digest: None,
            secret_rules: Arc::clone(&embedded.secret_rules),
            levels: RuleLevels::default(),
            broken: Vec::new(),
        })
    }

    /// Adds the rules of a repository: its `.gitleaks.toml` and its rule files, each as path and text at the base.
    ///
    /// A rule of the repository replaces the embedded rule with the same id; with `severity: off` it disables that rule.
    pub fn with_repository_rules(mut self, files: &[(String, String)]) -> Result<Self, Vec<RuleError>> {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for (path, text) in files {
            let parsed = if path.rsplit('/').next() == Some(REPOSITORY_SECRET_RULES) {
                self.embedded.secret_rules.extend_with(path, text).map(|secrets| self.secret_rules = Arc::new(secrets))
            } else {
                language_rule::parse_rules(path, text).map(|entries| {
                    for (header, rule) in entries {
                        self.repository_headers.push(header);
                        rules.push(rule);
                    }
                })
            };
            errors.extend(parsed.err());
        }
        let texts = files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]);
        self.repository_digest = Some(Hash::digest_parts(texts));
        let path = files.first().map_or("", |(path, _)| path);
        match language_rule::group_rules(path, rules) {
            Ok(rules) => self.repository_rules = rules,
            Err(error) => errors.push(error),
        }
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Sets the severities that the config gives to rules.
    #[must_use]
    pub fn with_levels(mut self, levels: RuleLevels) -> Self {
        self.levels = levels;
        self
    }

    pub(super) fn levels(&self) -> &RuleLevels {
        &self.levels
    }

    /// Adds rule files that cannot be used. Every report lists them and is incomplete.
    #[must_use]
    pub fn with_broken(mut self, broken: Vec<RuleError>) -> Self {
        self.broken = broken;
        self
    }

    /// Returns a description that differs if the rules differ: another rule set reads the whole change (D34).
    pub(super) fn describe(&self) -> String {
        let repository = self.repository_digest.as_ref().map_or("", |digest| digest.0.as_str());
        format!("{} {} {repository}", env!("CARGO_PKG_VERSION"), self.ids().join(" "))
    }

    /// Returns the page of a rule.
    pub fn find_page(&self, id: &str) -> Option<RulePage> {
        if let Some(header) = self.repository_headers.iter().find(|header| header.id == id) {
            return Some(RulePage::from_language_rule(header, None));
        }
        if let Some(at) = self.embedded.headers.iter().position(|header| header.id == id) {
            let samples = LANGUAGE_RULES.iter().find(|file| file.has_id(id)).map(|file| file.samples);
            return Some(RulePage::from_language_rule(&self.embedded.headers[at], samples));
        }
        if let Some(rule) = self.embedded.text_rules.iter().find(|rule| rule.header.id == id) {
            return Some(RulePage::from_text_rule(&rule.header));
        }
        self.secret_rules
            .rules
            .iter()
            .find(|rule| rule.id == id)
            .map(|rule| RulePage::from_secret_rule(&rule.id, &rule.description))
    }

    /// Replaces each character of a secret with `*`, so that the text can be shown (SAF-4).
    pub fn mask_secrets(&self, path: &str, text: &str) -> String {
        let mut masked = text.as_bytes().to_vec();
        for range in self
            .secret_rules
            .find_in_text(path, text.as_bytes(), 0..text.len())
            .into_iter()
            .filter_map(|secret| secret.range)
        {
            masked[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
        }
        String::from_utf8_lossy(&masked).into_owned()
    }

    /// Returns the ids of all rules, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let languages = self.embedded.headers.iter().chain(&self.repository_headers).map(|header| header.id.as_str());
        let texts = self.embedded.text_rules.iter().map(|rule| rule.header.id.as_str());
        let secrets = self.secret_rules.rules.iter().map(|rule| rule.id.as_str());
        let mut ids: Vec<&str> = languages.chain(texts).chain(secrets).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the language rules for a file, sorted by id.
    pub(super) fn rules_for_file(&self, path: &str, language: SupportLang) -> Vec<&LanguageRule> {
        let path = std::path::Path::new(path);
        let is_replaced = |id: &str| self.repository_headers.iter().any(|header| header.id == id);
        let embedded = self.embedded.compile_language(language);
        let mut rules = embedded.map(|rules| rules.get_rule_from_lang(path, language)).unwrap_or_default();
        rules.retain(|rule| !is_replaced(&rule.id));
        rules.extend(self.repository_rules.get_rule_from_lang(path, language));
        rules.sort_by(|one, other| one.id.cmp(&other.id));
        rules
    }

    /// Returns the defect class of a language rule; empty if it has none.
    pub(super) fn find_class(&self, id: &str) -> &str {
        let mut headers = self.repository_headers.iter().chain(&self.embedded.headers);
        headers.find(|header| header.id == id).map_or("", |header| &header.metadata.class)
    }

    pub(super) fn text_rules(&self) -> &[TextRule] {
        &self.embedded.text_rules
    }

    pub(super) fn secret_rules(&self) -> &SecretRuleSet {
        &self.secret_rules
    }

    pub(super) fn broken(&self) -> &[RuleError] {
        &self.broken
    }
}

impl EmbeddedRules {
    fn load() -> Result<Self, RuleError> {
        let headers = LANGUAGE_RULES
            .iter()
            .map(|file| language_rule::parse_header(file.path, file.rule))
            .collect::<Result<_, _>>()?;
        let text_rules = TEXT_RULES.iter().map(|(path, text)| TextRule::parse(path, text)).collect::<Result<_, _>>()?;
        let secret_rules = Arc::new(SecretRuleSet::parse_embedded(SECRET_RULES_PATH, SECRET_RULES)?);
        Ok(Self { headers, compiled: Default::default(), text_rules, secret_rules })
    }

    /// Returns the rules of a language, and compiles them on first use. A test proves that each of them compiles.
    fn compile_language(&self, language: SupportLang) -> Option<&RuleCollection<SupportLang>> {
        let at = LANGUAGES.iter().position(|known| *known == language)?;
        Some(self.compiled[at].get_or_init(|| {
            let applies = |header: &RuleHeader| match header.language.parse() {
                // The library treats TSX as a language of its own.
                Ok(SupportLang::TypeScript) => [SupportLang::TypeScript, SupportLang::Tsx].contains(&language),
                Ok(other) => other == language,
                Err(_) => false,
            };
            let files = self.headers.iter().zip(LANGUAGE_RULES).filter(|(header, _)| applies(header));
            let rules = files.filter_map(|(_, file)| language_rule::compile_rule(file.path, file.rule, language).ok());
            language_rule::group_rules("rules", rules.collect()).unwrap_or_default()
        }))
    }
}

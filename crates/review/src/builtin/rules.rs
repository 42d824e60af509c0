//! The rules of one review: those the program brings, and those of the repository.

use std::sync::{Arc, OnceLock};

use ast_grep_config::RuleCollection;
use ast_grep_language::SupportLang;

use super::embedded_files::{LANGUAGE_RULES, SECRET_RULES, SECRET_RULES_PATH, TEXT_RULES};
use super::error::RuleError;
use super::language_rule::{self, LANGUAGES, LanguageRule, RuleHeader};
use super::rule_page::RulePage;
use super::secrets::SecretRuleSet;
use super::text_rule::TextRule;

/// Where a repository keeps its secret rules. Every other file that it gives is in ast-grep's format.
pub const REPOSITORY_SECRET_RULES: &str = ".gitleaks.toml";

/// The rules of one review.
pub struct RuleSet {
    embedded: &'static EmbeddedRules,
    repository_rules: RuleCollection<SupportLang>,
    repository_headers: Vec<RuleHeader>,
    secret_rules: Arc<SecretRuleSet>,
    broken: Vec<RuleError>,
}

/// What the program brings, read once.
struct EmbeddedRules {
    /// In the order of the table.
    headers: Vec<RuleHeader>,
    /// In the order of `LANGUAGES`. Compiling takes longer than anything else here, and most changes are of one language.
    compiled: [OnceLock<RuleCollection<SupportLang>>; LANGUAGES.len()],
    text_rules: Vec<TextRule>,
    secret_rules: Arc<SecretRuleSet>,
}

impl RuleSet {
    /// The rules that the program brings.
    pub fn load_embedded() -> Result<Self, RuleError> {
        static EMBEDDED: OnceLock<Result<EmbeddedRules, RuleError>> = OnceLock::new();
        let brought = EMBEDDED.get_or_init(EmbeddedRules::load).as_ref().map_err(Clone::clone)?;
        Ok(Self {
            embedded: brought,
            repository_rules: RuleCollection::default(),
            repository_headers: Vec::new(),
            secret_rules: Arc::clone(&brought.secret_rules),
            broken: Vec::new(),
        })
    }

    /// Adds a repository's own: its `.gitleaks.toml` and its rule files, each as path and text at the base.
    ///
    /// A rule of the repository takes the place of an embedded one with its id; with `severity: off` it turns that off.
    pub fn with_repository_rules(mut self, own: &[(String, String)]) -> Result<Self, Vec<RuleError>> {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for (path, text) in own {
            let read = if path.rsplit('/').next() == Some(REPOSITORY_SECRET_RULES) {
                self.embedded.secret_rules.extend_with(path, text).map(|secrets| self.secret_rules = Arc::new(secrets))
            } else {
                language_rule::parse_rules(path, text).map(|parsed| {
                    for (head, rule) in parsed {
                        self.repository_headers.push(head);
                        rules.push(rule);
                    }
                })
            };
            errors.extend(read.err());
        }
        let path = own.first().map_or("", |(path, _)| path);
        match language_rule::group_rules(path, rules) {
            Ok(rules) => self.repository_rules = rules,
            Err(error) => errors.push(error),
        }
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Says in every report that these could not be read, which makes it incomplete.
    #[must_use]
    pub fn with_broken(mut self, broken: Vec<RuleError>) -> Self {
        self.broken = broken;
        self
    }

    /// What people read of a rule.
    pub fn find_page(&self, id: &str) -> Option<RulePage> {
        if let Some(head) = self.repository_headers.iter().find(|head| head.id == id) {
            return Some(RulePage::from_language_rule(head, None));
        }
        if let Some(at) = self.embedded.headers.iter().position(|head| head.id == id) {
            let samples = LANGUAGE_RULES.iter().filter(|it| it.has_id(id)).map(|it| it.samples).next();
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

    /// A file's text as people may see it: of its secrets each character is a star (SAF-4).
    pub fn mask_secrets(&self, path: &str, text: &str) -> String {
        let mut masked = text.as_bytes().to_vec();
        for range in
            self.secret_rules.find_in_text(path, text.as_bytes(), 0..text.len()).into_iter().filter_map(|it| it.range)
        {
            masked[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
        }
        String::from_utf8_lossy(&masked).into_owned()
    }

    /// The names of all rules, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let heads = self.embedded.headers.iter().chain(&self.repository_headers).map(|head| head.id.as_str());
        let texts = self.embedded.text_rules.iter().map(|rule| rule.header.id.as_str());
        let secrets = self.secret_rules.rules.iter().map(|rule| rule.id.as_str());
        let mut ids: Vec<&str> = heads.chain(texts).chain(secrets).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The language rules for a file, sorted by name.
    pub(super) fn rules_for_file(&self, path: &str, language: SupportLang) -> Vec<&LanguageRule> {
        let path = std::path::Path::new(path);
        let own = |id: &str| self.repository_headers.iter().any(|head| head.id == id);
        let brought = self.embedded.compile_language(language);
        let mut rules = brought.map(|it| it.get_rule_from_lang(path, language)).unwrap_or_default();
        rules.retain(|rule| !own(&rule.id));
        rules.extend(self.repository_rules.get_rule_from_lang(path, language));
        rules.sort_by(|one, other| one.id.cmp(&other.id));
        rules
    }

    /// What kind of defect a language rule finds; empty where it does not say.
    pub(super) fn find_class(&self, id: &str) -> &str {
        let mut heads = self.repository_headers.iter().chain(&self.embedded.headers);
        heads.find(|head| head.id == id).map_or("", |head| &head.metadata.class)
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
        let heads = LANGUAGE_RULES
            .iter()
            .map(|file| language_rule::parse_header(file.path, file.rule))
            .collect::<Result<_, _>>()?;
        let texts = TEXT_RULES.iter().map(|(path, text)| TextRule::parse(path, text)).collect::<Result<_, _>>()?;
        let secrets = Arc::new(SecretRuleSet::parse_embedded(SECRET_RULES_PATH, SECRET_RULES)?);
        Ok(Self { headers: heads, compiled: Default::default(), text_rules: texts, secret_rules: secrets })
    }

    /// The rules of a language, compiled when its first file comes. That each of them compiles is tested.
    fn compile_language(&self, language: SupportLang) -> Option<&RuleCollection<SupportLang>> {
        let at = LANGUAGES.iter().position(|it| *it == language)?;
        Some(self.compiled[at].get_or_init(|| {
            let meant = |head: &RuleHeader| match head.language.parse() {
                // Files with markup are a language of their own to the library, and one to people.
                Ok(SupportLang::TypeScript) => [SupportLang::TypeScript, SupportLang::Tsx].contains(&language),
                Ok(other) => other == language,
                Err(_) => false,
            };
            let files = self.headers.iter().zip(LANGUAGE_RULES).filter(|(head, _)| meant(head));
            let rules = files.filter_map(|(_, file)| language_rule::compile_rule(file.path, file.rule, language).ok());
            language_rule::group_rules("rules", rules.collect()).unwrap_or_default()
        }))
    }
}

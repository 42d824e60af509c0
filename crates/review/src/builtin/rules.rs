//! The rules of one review: those the program brings, and those of the repository.

use std::sync::{Arc, OnceLock};

use ast_grep_config::RuleCollection;
use ast_grep_language::SupportLang;

use super::error::RuleError;
use super::page::Page;
use super::secrets::Secrets;
use super::syntax::{self, Head, LANGUAGES, Rule};
use super::table::{LANGUAGE_RULES, SECRET_RULES, SECRET_RULES_PATH, TEXT_RULES};
use super::text::TextRule;

/// Where a repository keeps its secret rules. Every other file that it gives is in ast-grep's format.
pub const REPOSITORY_SECRETS: &str = ".gitleaks.toml";

/// The rules of one review.
pub struct Rules {
    brought: &'static Brought,
    own: RuleCollection<SupportLang>,
    own_heads: Vec<Head>,
    secrets: Arc<Secrets>,
    broken: Vec<RuleError>,
}

/// What the program brings, read once.
struct Brought {
    /// In the order of the table.
    heads: Vec<Head>,
    /// In the order of `LANGUAGES`. Compiling takes longer than anything else here, and most changes are of one language.
    compiled: [OnceLock<RuleCollection<SupportLang>>; LANGUAGES.len()],
    texts: Vec<TextRule>,
    secrets: Arc<Secrets>,
}

impl Rules {
    /// The rules that the program brings.
    pub fn embedded() -> Result<Self, RuleError> {
        static BROUGHT: OnceLock<Result<Brought, RuleError>> = OnceLock::new();
        let brought = BROUGHT.get_or_init(Brought::read).as_ref().map_err(Clone::clone)?;
        Ok(Self {
            brought,
            own: RuleCollection::default(),
            own_heads: Vec::new(),
            secrets: Arc::clone(&brought.secrets),
            broken: Vec::new(),
        })
    }

    /// Adds a repository's own: its `.gitleaks.toml` and its rule files, each as path and text at the base.
    ///
    /// A rule of the repository takes the place of an embedded one with its id; with `severity: off` it turns that off.
    pub fn with_repository(mut self, own: &[(String, String)]) -> Result<Self, Vec<RuleError>> {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for (path, text) in own {
            let read = if path.rsplit('/').next() == Some(REPOSITORY_SECRETS) {
                self.brought.secrets.extended(path, text).map(|secrets| self.secrets = Arc::new(secrets))
            } else {
                syntax::parse(path, text).map(|parsed| {
                    for (head, rule) in parsed {
                        self.own_heads.push(head);
                        rules.push(rule);
                    }
                })
            };
            errors.extend(read.err());
        }
        let path = own.first().map_or("", |(path, _)| path);
        match syntax::collect(path, rules) {
            Ok(rules) => self.own = rules,
            Err(error) => errors.push(error),
        }
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// Says in every report that these could not be read, which makes it incomplete.
    #[must_use]
    pub fn without(mut self, broken: Vec<RuleError>) -> Self {
        self.broken = broken;
        self
    }

    /// What people read of a rule.
    pub fn page(&self, id: &str) -> Option<Page> {
        if let Some(head) = self.own_heads.iter().find(|head| head.id == id) {
            return Some(Page::of_language(head, None));
        }
        if let Some(at) = self.brought.heads.iter().position(|head| head.id == id) {
            let samples = LANGUAGE_RULES.iter().filter(|it| it.names(id)).map(|it| it.samples).next();
            return Some(Page::of_language(&self.brought.heads[at], samples));
        }
        if let Some(rule) = self.brought.texts.iter().find(|rule| rule.head.id == id) {
            return Some(Page::of_text(&rule.head));
        }
        self.secrets.rules.iter().find(|rule| rule.id == id).map(|rule| Page::of_secret(&rule.id, &rule.description))
    }

    /// A file's text as people may see it: of its secrets each character is a star (SAF-4).
    pub fn masked(&self, path: &str, text: &str) -> String {
        let mut masked = text.as_bytes().to_vec();
        for range in self.secrets.in_text(path, text.as_bytes(), 0..text.len()).into_iter().filter_map(|it| it.range) {
            masked[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
        }
        String::from_utf8_lossy(&masked).into_owned()
    }

    /// The names of all rules, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let heads = self.brought.heads.iter().chain(&self.own_heads).map(|head| head.id.as_str());
        let texts = self.brought.texts.iter().map(|rule| rule.head.id.as_str());
        let secrets = self.secrets.rules.iter().map(|rule| rule.id.as_str());
        let mut ids: Vec<&str> = heads.chain(texts).chain(secrets).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The language rules for a file, sorted by name.
    pub(super) fn for_file(&self, path: &str, language: SupportLang) -> Vec<&Rule> {
        let path = std::path::Path::new(path);
        let own = |id: &str| self.own_heads.iter().any(|head| head.id == id);
        let brought = self.brought.of(language);
        let mut rules = brought.map(|it| it.get_rule_from_lang(path, language)).unwrap_or_default();
        rules.retain(|rule| !own(&rule.id));
        rules.extend(self.own.get_rule_from_lang(path, language));
        rules.sort_by(|one, other| one.id.cmp(&other.id));
        rules
    }

    /// What kind of defect a language rule finds; empty where it does not say.
    pub(super) fn class(&self, id: &str) -> &str {
        let mut heads = self.own_heads.iter().chain(&self.brought.heads);
        heads.find(|head| head.id == id).map_or("", |head| &head.metadata.class)
    }

    pub(super) fn texts(&self) -> &[TextRule] {
        &self.brought.texts
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(super) fn broken(&self) -> &[RuleError] {
        &self.broken
    }
}

impl Brought {
    fn read() -> Result<Self, RuleError> {
        let heads = LANGUAGE_RULES.iter().map(|file| syntax::head(file.path, file.rule)).collect::<Result<_, _>>()?;
        let texts = TEXT_RULES.iter().map(|(path, text)| TextRule::parse(path, text)).collect::<Result<_, _>>()?;
        let secrets = Arc::new(Secrets::embedded(SECRET_RULES_PATH, SECRET_RULES)?);
        Ok(Self { heads, compiled: Default::default(), texts, secrets })
    }

    /// The rules of a language, compiled when its first file comes. That each of them compiles is tested.
    fn of(&self, language: SupportLang) -> Option<&RuleCollection<SupportLang>> {
        let at = LANGUAGES.iter().position(|it| *it == language)?;
        Some(self.compiled[at].get_or_init(|| {
            let meant = |head: &Head| match head.language.parse() {
                // Files with markup are a language of their own to the library, and one to people.
                Ok(SupportLang::TypeScript) => [SupportLang::TypeScript, SupportLang::Tsx].contains(&language),
                Ok(other) => other == language,
                Err(_) => false,
            };
            let files = self.heads.iter().zip(LANGUAGE_RULES).filter(|(head, _)| meant(head));
            let rules = files.filter_map(|(_, file)| syntax::compile(file.path, file.rule, language).ok());
            syntax::collect("rules", rules.collect()).unwrap_or_default()
        }))
    }
}

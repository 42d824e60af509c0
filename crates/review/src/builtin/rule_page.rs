//! The page that explains a rule.

use ast_grep_config::Severity as Level;
use referee_core::model::Severity;
use serde::Deserialize;

use super::embedded_files::SECRET_SAMPLES;
use super::language_rule::RuleHeader;
use super::text_rule::TextRuleHeader;

/// The page of a rule: what it finds, why that matters, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePage {
    pub id: String,
    pub title: String,
    pub severity: Severity,
    /// The language of the files it reads, or `any file`.
    pub language: String,
    pub why: String,
    pub bad_example: Option<String>,
    pub good_example: Option<String>,
    pub fix: String,
}

/// Samples of a rule, in the format of ast-grep's tests.
#[derive(Deserialize)]
pub(super) struct RuleSamples {
    #[expect(dead_code, reason = "the format requires it; the file name holds the same id")]
    id: String,
    #[serde(default)]
    pub(super) valid: Vec<String>,
    #[serde(default)]
    pub(super) invalid: Vec<String>,
}

const ANY_FILE: &str = "any file";

impl RulePage {
    pub(super) fn from_language_rule(header: &RuleHeader, samples: Option<&str>) -> Self {
        let samples: Option<RuleSamples> = samples.and_then(|text| ast_grep_config::from_str(text).ok());
        let (bad_example, good_example) = samples
            .map_or((None, None), |samples| (samples.invalid.into_iter().next(), samples.valid.into_iter().next()));
        let (message, note) = (header.message.trim(), header.note.trim());
        // A rule without `why` has its reason in the first sentence of the note, or after the colon of the message.
        let (why, fix) = match header.metadata.why.trim() {
            "" => note.split_once(". ").unwrap_or((message.split_once(": ").map_or(message, |(_, why)| why), note)),
            why => (why, note),
        };
        Self {
            id: header.id.clone(),
            title: header.message.trim().to_owned(),
            severity: map_severity(&header.severity),
            language: header.language.clone(),
            why: to_sentence(why),
            bad_example,
            good_example,
            fix: fix.trim().to_owned(),
        }
    }

    pub(super) fn from_text_rule(header: &TextRuleHeader) -> Self {
        Self {
            id: header.id.clone(),
            title: header.message.clone(),
            severity: map_severity(&header.severity),
            language: ANY_FILE.to_owned(),
            why: header.why.trim().to_owned(),
            bad_example: Some(header.hit.clone()),
            good_example: Some(header.miss.clone()),
            fix: header.note.trim().to_owned(),
        }
    }

    pub(super) fn from_secret_rule(id: &str, description: &str) -> Self {
        let samples: Option<toml::Table> = SECRET_SAMPLES.parse().ok();
        let sample = |key: &str| Some(samples.as_ref()?.get(id)?.get(key)?.as_array()?.first()?.as_str()?.to_owned());
        Self {
            id: id.to_owned(),
            title: render_secret_title(description, id),
            severity: Severity::Critical,
            language: ANY_FILE.to_owned(),
            why: SECRET_WHY.to_owned(),
            bad_example: sample("hit"),
            good_example: sample("miss"),
            fix: SECRET_FIX.to_owned(),
        }
    }

    /// Renders the page as Markdown that is also readable as plain text.
    pub fn render(&self) -> String {
        let Self { id, title, severity, language, why, fix, .. } = self;
        let mut page = format!("# {id}\n\n{title}\n\nSeverity: {severity}\nReads: {language}\n");
        let mut section = |name: &str, text: &str| {
            if !text.trim().is_empty() {
                page.push_str(&format!("\n## {name}\n\n{}\n", text.trim_end()));
            }
        };
        section("Why it matters", why);
        section("It finds", &self.bad_example.as_deref().map(indent_block).unwrap_or_default());
        section("It leaves alone", &self.good_example.as_deref().map(indent_block).unwrap_or_default());
        section("How to mend it", fix);
        let suppression = format!(
            "Answer the finding: `won't fix:` and the reason. Once that code is on the default branch, a comment\n\
             `referee: ignore {id}` on the line above keeps later changes of the line quiet; one that the change itself\n\
             brings does not count."
        );
        section("How to silence it", &suppression);
        page
    }
}

/// Capitalises the first letter and adds a full stop.
fn to_sentence(text: &str) -> String {
    let mut rest = text.trim().trim_end_matches('.').chars();
    rest.next().map(|first| format!("{}{}.", first.to_uppercase(), rest.as_str())).unwrap_or_default()
}

/// Indents by four. Unlike a fence, the text cannot end such a block.
fn indent_block(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("    {line}\n")).collect()
}

pub(super) fn map_severity(level: &Level) -> Severity {
    match level {
        Level::Error => Severity::Critical,
        Level::Warning => Severity::Warning,
        Level::Info | Level::Hint | Level::Off => Severity::Suggestion,
    }
}

pub(super) fn render_secret_title(description: &str, id: &str) -> String {
    let name = if description.is_empty() { id } else { description.trim_end_matches('.') };
    format!("{name} is committed")
}

pub(super) const SECRET_WHY: &str = "Whoever can read the repository, now or later, can use it. \
    Taking it out in a later commit leaves it in the history.";
pub(super) const SECRET_FIX: &str = "Revoke it where it was issued, then read the new one from the environment or a \
    secret store. If it is a sample, say so with a value that nobody could issue.";

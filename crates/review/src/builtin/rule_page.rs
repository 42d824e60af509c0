//! What people read of a rule.

use ast_grep_config::Severity as Level;
use referee_core::model::Severity;
use serde::Deserialize;

use super::embedded_files::SECRET_SAMPLES;
use super::language_rule::RuleHeader;
use super::text_rule::TextRuleHeader;

/// A rule's page: what it finds, why that matters, how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePage {
    /// Its name, as findings carry it.
    pub id: String,
    /// What it finds, in a line.
    pub title: String,
    /// How grave.
    pub severity: Severity,
    /// Which files it reads: a language, or `any file`.
    pub language: String,
    /// Why it matters.
    pub why: String,
    /// Code that it finds.
    pub bad_example: Option<String>,
    /// Code that it leaves alone.
    pub good_example: Option<String>,
    /// How to mend it.
    pub fix: String,
}

/// The format of ast-grep's tests.
#[derive(Deserialize)]
pub(super) struct RuleSamples {
    #[expect(dead_code, reason = "the format has it; the file's name says the same")]
    id: String,
    #[serde(default)]
    pub(super) valid: Vec<String>,
    #[serde(default)]
    pub(super) invalid: Vec<String>,
}

const ANY_FILE: &str = "any file";

impl RulePage {
    pub(super) fn from_language_rule(head: &RuleHeader, samples: Option<&str>) -> Self {
        let samples: Option<RuleSamples> = samples.and_then(|text| ast_grep_config::from_str(text).ok());
        let (hit, miss) =
            samples.map_or((None, None), |it| (it.invalid.into_iter().next(), it.valid.into_iter().next()));
        let (message, note) = (head.message.trim(), head.note.trim());
        // Without a reason of its own, the note gives it first, or the message last.
        let (why, fix) = match head.metadata.why.trim() {
            "" => note.split_once(". ").unwrap_or((message.split_once(": ").map_or(message, |(_, why)| why), note)),
            why => (why, note),
        };
        Self {
            id: head.id.clone(),
            title: head.message.trim().to_owned(),
            severity: map_severity(&head.severity),
            language: head.language.clone(),
            why: to_sentence(why),
            bad_example: hit,
            good_example: miss,
            fix: fix.trim().to_owned(),
        }
    }

    pub(super) fn from_text_rule(head: &TextRuleHeader) -> Self {
        Self {
            id: head.id.clone(),
            title: head.message.clone(),
            severity: map_severity(&head.severity),
            language: ANY_FILE.to_owned(),
            why: head.why.trim().to_owned(),
            bad_example: Some(head.hit.clone()),
            good_example: Some(head.miss.clone()),
            fix: head.note.trim().to_owned(),
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

    /// As Markdown, which reads as plain text as well.
    pub fn render(&self) -> String {
        let Self { id, title, severity, language, why, fix, .. } = self;
        let mut page = format!("# {id}\n\n{title}\n\nSeverity: {severity}\nReads: {language}\n");
        let mut part = |name: &str, text: &str| {
            if !text.trim().is_empty() {
                page.push_str(&format!("\n## {name}\n\n{}\n", text.trim_end()));
            }
        };
        part("Why it matters", why);
        part("It finds", &self.bad_example.as_deref().map(indent_block).unwrap_or_default());
        part("It leaves alone", &self.good_example.as_deref().map(indent_block).unwrap_or_default());
        part("How to mend it", fix);
        let silence = format!(
            "Answer the finding: `won't fix` and the reason. Once that code is on the default branch, a comment\n\
             `referee: ignore {id}` on the line above keeps later changes of the line quiet; one that the change itself\n\
             brings does not count."
        );
        part("How to silence it", &silence);
        page
    }
}

/// With a capital and a full stop.
fn to_sentence(text: &str) -> String {
    let mut rest = text.trim().trim_end_matches('.').chars();
    rest.next().map(|first| format!("{}{}.", first.to_uppercase(), rest.as_str())).unwrap_or_default()
}

/// Indented by four, so that no text can end the block.
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
    let what = if description.is_empty() { id } else { description.trim_end_matches('.') };
    format!("{what} is committed")
}

pub(super) const SECRET_WHY: &str = "Whoever can read the repository, now or later, can use it. \
    Taking it out in a later commit leaves it in the history.";
pub(super) const SECRET_FIX: &str = "Revoke it where it was issued, then read the new one from the environment or a \
    secret store. If it is a sample, say so with a value that nobody could issue.";

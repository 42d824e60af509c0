//! The project file: YAML or TOML, the same keys in both.

use std::collections::BTreeMap;
use std::path::Path;

use referee_core::plan::JobKind;
use referee_core::say::find_nearest_word;
use serde::Deserialize;

use super::field::{ApiBase, DurationField, LabelRef, PullsField, RepoField};
use crate::failure::Failure;

/// A project, as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectFile {
    pub(crate) repo: RepoField,
    /// Where the forge's interface is; or `forge`.
    pub(crate) api_base: Option<ApiBase>,
    /// A forge of the operator file.
    pub(crate) forge: Option<String>,
    /// A file with the token.
    pub(crate) token_path: Option<String>,
    /// The fixing side.
    pub(crate) user: String,
    #[serde(default)]
    pub(crate) labels: Labels,
    /// Roles, or sentinel names of another bot.
    #[serde(default)]
    pub(crate) review_bots: Vec<String>,
    /// Whose reviews count as those bots'.
    #[serde(default)]
    pub(crate) review_users: Vec<String>,
    /// Who gets a ready pull.
    pub(crate) assign: Option<String>,
    pub(crate) ci_required: Option<bool>,
    pub(crate) rounds: Option<u32>,
    pub(crate) wip_max_age: Option<DurationField>,
    pub(crate) pulls: Option<PullsField>,
    /// Which worker of the operator file does what; absent: only printed.
    #[serde(default)]
    pub(crate) workers: BTreeMap<JobKind, String>,
}

/// The labels that dispatch uses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Labels {
    pub(crate) wip: Option<LabelRef>,
    pub(crate) ready: Option<LabelRef>,
    pub(crate) bug: Option<LabelRef>,
}

impl ProjectFile {
    /// Reads the text of a file of that name.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let read: Result<Self, ProjectFileError> = if path.extension().is_some_and(|it| it == "toml") {
            toml::from_str(text).map_err(|error| ProjectFileError {
                line: error.span().map(|span| line_number(text, span.start)),
                message: error.message().to_owned(),
            })
        } else {
            serde_saphyr::from_str(text).map_err(|error| ProjectFileError::from_yaml(&error))
        };
        let file = read.map_err(|wrong| wrong.into_failure(path))?;
        if file.api_base.is_some() == file.forge.is_some() {
            let what = "it needs exactly one of `api_base` and `forge`".to_owned();
            return Err(ProjectFileError { line: None, message: what }.into_failure(path));
        }
        Ok(file)
    }
}

/// What is wrong with a file, and where.
struct ProjectFileError {
    line: Option<usize>,
    message: String,
}

impl ProjectFileError {
    fn from_yaml(error: &serde_saphyr::Error) -> Self {
        let error = error.without_snippet();
        let line = error.location().and_then(|at| usize::try_from(at.line()).ok()).filter(|line| *line > 0);
        let what = match error {
            serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => {
                format!("unknown field `{field}`, expected one of `{}`", expected.join("`, `"))
            }
            error => {
                // Its words end with the place, which is told apart.
                let words = error.to_string();
                let what = words.lines().next().unwrap_or_default();
                what.rsplit_once(" at line ").map_or(what, |(what, _)| what).to_owned()
            }
        };
        Self { line, message: what }
    }

    fn into_failure(self, path: &Path) -> Failure {
        let place = match self.line {
            Some(line) => format!("`{}`, line {line}", path.display()),
            None => format!("`{}`", path.display()),
        };
        let mut quoted = self.message.split('`').skip(1).step_by(2);
        if let (true, Some(key)) = (self.message.contains("unknown field"), quoted.next()) {
            let known: Vec<&str> = quoted.collect();
            let failure = Failure::usage(format!("the project cannot be used: {place}: `{key}` is not a known key"));
            return match find_nearest_word(key, known.iter().copied()) {
                Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
                None => failure.with_hint(format!("known here: `{}`", known.join("`, `"))),
            };
        }
        Failure::usage(format!("the project cannot be used: {place}: {}", self.message))
    }
}

fn line_number(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

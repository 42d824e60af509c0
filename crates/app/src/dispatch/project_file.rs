//! The project file, in YAML or TOML with the same keys.

use std::collections::BTreeMap;
use std::path::Path;

use referee_core::plan::JobKind;
use referee_core::say::find_nearest_word;
use serde::Deserialize;

use super::field::{ApiBase, DurationField, LabelRef, PullsField, RepoField};
use crate::failure::Failure;

/// The contents of a project file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectFile {
    pub(crate) repo: RepoField,
    /// Base URL of the forge's API. Either this or `forge` is set.
    pub(crate) api_base: Option<ApiBase>,
    /// Name of a forge of the operator file.
    pub(crate) forge: Option<String>,
    /// Path of a file with the token.
    pub(crate) token_path: Option<String>,
    /// Login of the account that fixes findings.
    pub(crate) user: String,
    #[serde(default)]
    pub(crate) labels: Labels,
    /// Roles of referee, or the names that other review bots put into their texts.
    #[serde(default)]
    pub(crate) review_bots: Vec<String>,
    /// Logins whose reviews count as those of the bots.
    #[serde(default)]
    pub(crate) review_users: Vec<String>,
    /// Login that a ready pull is assigned to.
    pub(crate) assign: Option<String>,
    pub(crate) ci_required: Option<bool>,
    pub(crate) rounds: Option<u32>,
    pub(crate) wip_max_age: Option<DurationField>,
    pub(crate) pulls: Option<PullsField>,
    /// Names of the operator file's workers by kind of job. Other jobs are only printed.
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
    /// Parses a project file. Its extension selects the format.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        let parsed: Result<Self, ProjectFileError> = if is_toml {
            toml::from_str(text).map_err(|error| ProjectFileError {
                line: error.span().map(|span| line_number(text, span.start)),
                message: error.message().to_owned(),
            })
        } else {
            serde_saphyr::from_str(text).map_err(|error| ProjectFileError::from_yaml(&error))
        };
        let file = parsed.map_err(|error| error.into_failure(path))?;
        if file.api_base.is_some() == file.forge.is_some() {
            let message = "it needs exactly one of `api_base` and `forge`".to_owned();
            return Err(ProjectFileError { line: None, message }.into_failure(path));
        }
        Ok(file)
    }
}

/// An error in a project file.
struct ProjectFileError {
    line: Option<usize>,
    message: String,
}

impl ProjectFileError {
    fn from_yaml(error: &serde_saphyr::Error) -> Self {
        let error = error.without_snippet();
        let line = error.location().and_then(|location| usize::try_from(location.line()).ok()).filter(|line| *line > 0);
        let message = match error {
            serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => {
                format!("unknown field `{field}`, expected one of `{}`", expected.join("`, `"))
            }
            error => {
                // The text ends with the location, which is reported separately.
                let text = error.to_string();
                let first_line = text.lines().next().unwrap_or_default();
                first_line.rsplit_once(" at line ").map_or(first_line, |(message, _)| message).to_owned()
            }
        };
        Self { line, message }
    }

    fn into_failure(self, path: &Path) -> Failure {
        let location = match self.line {
            Some(line) => format!("`{}`, line {line}", path.display()),
            None => format!("`{}`", path.display()),
        };
        let mut quoted = self.message.split('`').skip(1).step_by(2);
        if let (true, Some(key)) = (self.message.contains("unknown field"), quoted.next()) {
            let known: Vec<&str> = quoted.collect();
            let failure = Failure::usage(format!("the project cannot be used: {location}: `{key}` is not a known key"));
            return match find_nearest_word(key, known.iter().copied()) {
                Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
                None => failure.with_hint(format!("this file has `{}`", known.join("`, `"))),
            };
        }
        Failure::usage(format!("the project cannot be used: {location}: {}", self.message))
    }
}

fn line_number(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

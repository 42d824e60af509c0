//! The project file: YAML or TOML, the same keys in both.

use std::collections::BTreeMap;
use std::path::Path;

use referee_core::plan::JobKind;
use referee_core::say::nearest;
use serde::Deserialize;

use super::field::{Age, Base, Label, Pulls, Repo};
use crate::failure::Failure;

/// A project, as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectFile {
    pub(crate) repo: Repo,
    /// Where the forge's interface is; or `forge`.
    pub(crate) api_base: Option<Base>,
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
    pub(crate) wip_max_age: Option<Age>,
    pub(crate) pulls: Option<Pulls>,
    /// Which worker of the operator file does what; absent: only printed.
    #[serde(default)]
    pub(crate) workers: BTreeMap<JobKind, String>,
}

/// The labels that dispatch uses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Labels {
    pub(crate) wip: Option<Label>,
    pub(crate) ready: Option<Label>,
    pub(crate) bug: Option<Label>,
}

impl ProjectFile {
    /// Reads the text of a file of that name.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let read: Result<Self, Wrong> = if path.extension().is_some_and(|it| it == "toml") {
            toml::from_str(text).map_err(|error| Wrong {
                line: error.span().map(|span| line(text, span.start)),
                what: error.message().to_owned(),
            })
        } else {
            serde_saphyr::from_str(text).map_err(|error| Wrong::of_yaml(&error))
        };
        let file = read.map_err(|wrong| wrong.failure(path))?;
        if file.api_base.is_some() == file.forge.is_some() {
            let what = "it needs exactly one of `api_base` and `forge`".to_owned();
            return Err(Wrong { line: None, what }.failure(path));
        }
        Ok(file)
    }
}

/// What is wrong with a file, and where.
struct Wrong {
    line: Option<usize>,
    what: String,
}

impl Wrong {
    fn of_yaml(error: &serde_saphyr::Error) -> Self {
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
        Self { line, what }
    }

    fn failure(self, path: &Path) -> Failure {
        let place = match self.line {
            Some(line) => format!("`{}`, line {line}", path.display()),
            None => format!("`{}`", path.display()),
        };
        let mut quoted = self.what.split('`').skip(1).step_by(2);
        if let (true, Some(key)) = (self.what.contains("unknown field"), quoted.next()) {
            let known: Vec<&str> = quoted.collect();
            let failure = Failure::usage(format!("the project cannot be used: {place}: `{key}` is not a known key"));
            return match nearest(key, known.iter().copied()) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint(format!("known here: `{}`", known.join("`, `"))),
            };
        }
        Failure::usage(format!("the project cannot be used: {place}: {}", self.what))
    }
}

fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

//! The CI workflow of each forge.

use clap::ValueEnum;
use serde::Deserialize;

use crate::failure::Failure;
use crate::session::config_files::FILE_NAME;

/// The forge whose CI runs the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CiSystem {
    Github,
    Gitea,
    Forgejo,
    Gitlab,
}

/// The part of a `referee.toml` that a workflow needs.
#[derive(Debug, Deserialize)]
struct WorkflowRoles {
    #[serde(default)]
    role: Vec<WorkflowRole>,
}

#[derive(Debug, Deserialize)]
struct WorkflowRole {
    name: String,
}

impl CiSystem {
    /// Returns the path of the workflow file in the repository.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Github => ".github/workflows/referee.yml",
            Self::Gitea => ".gitea/workflows/referee.yml",
            Self::Forgejo => ".forgejo/workflows/referee.yml",
            Self::Gitlab => ".referee/gitlab-ci.yml",
        }
    }

    /// Renders a workflow with one job for all roles.
    pub(super) fn render(self) -> String {
        let actions = include_str!("actions.yml");
        match self {
            Self::Github => include_str!("workflow.yml").to_owned(),
            Self::Gitlab => include_str!("gitlab-ci.yml").to_owned(),
            // The default labels of each forge's runner.
            Self::Gitea => actions.replace("RUNNER", "ubuntu-latest"),
            Self::Forgejo => actions.replace("RUNNER", "docker"),
        }
    }

    /// Renders a workflow with one job for each role of `config`.
    pub(super) fn render_matrix(self, config: &str) -> Result<String, Failure> {
        if !matches!(self, Self::Gitea | Self::Forgejo) {
            return Err(Failure::usage(
                "nothing was written: `--matrix` works only with `--ci gitea` and `--ci forgejo`",
            ));
        }
        let roles: WorkflowRoles = toml::from_str(config).map_err(|error| {
            Failure::usage(format!("nothing was written: the roles of `{FILE_NAME}` cannot be read: {error}"))
        })?;
        let mut names: Vec<String> = roles.role.iter().map(|role| format!("{:?}", role.name)).collect();
        if names.is_empty() {
            names.push("\"static\"".to_owned());
        }
        let strategy =
            format!("    strategy:\n      fail-fast: false\n      matrix:\n        role: [{}]\n", names.join(", "));
        let text = self.render().replace("    steps:\n", &format!("{strategy}    steps:\n"));
        Ok(text.replace(
            "referee review\n        env:\n",
            "referee review --role \"$ROLE\"\n        env:\n          ROLE: ${{ matrix.role }}\n",
        ))
    }

    /// Lists what a person must set up besides the workflow file.
    pub(super) fn missing_steps(self) -> Vec<String> {
        match self {
            Self::Gitea | Self::Forgejo => vec![
                "the secret `REFEREE_TOKEN`: a token of the bot's user with `write:repository`, `write:issue`, `read:user`"
                    .to_owned(),
                format!("`referee` on the PATH of the runner: a comment in `{}` shows where to install it", self.path()),
            ],
            Self::Github | Self::Gitlab => {
                vec![format!("the workflow for {self:?} posts nothing yet: this build does not support that forge").to_lowercase()]
            }
        }
    }
}

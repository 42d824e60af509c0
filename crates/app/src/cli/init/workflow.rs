//! The CI files.

use clap::ValueEnum;
use serde::Deserialize;

use crate::failure::Failure;
use crate::session::config_files::FILE_NAME;

/// Whose CI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CiSystem {
    Github,
    Gitea,
    Forgejo,
    Gitlab,
}

/// The roles of a `referee.toml`, as far as a workflow must know them.
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
    /// Where its file lies.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Github => ".github/workflows/referee.yml",
            Self::Gitea => ".gitea/workflows/referee.yml",
            Self::Forgejo => ".forgejo/workflows/referee.yml",
            Self::Gitlab => ".referee/gitlab-ci.yml",
        }
    }

    /// One job for all roles.
    pub(super) fn render(self) -> String {
        let actions = include_str!("actions.yml");
        match self {
            Self::Github => include_str!("workflow.yml").to_owned(),
            Self::Gitlab => include_str!("gitlab-ci.yml").to_owned(),
            // The labels that a runner has unless its operator says otherwise.
            Self::Gitea => actions.replace("RUNNER", "ubuntu-latest"),
            Self::Forgejo => actions.replace("RUNNER", "docker"),
        }
    }

    /// One job for each role of that config.
    pub(super) fn render_matrix(self, config: &str) -> Result<String, Failure> {
        if !matches!(self, Self::Gitea | Self::Forgejo) {
            return Err(Failure::usage("nothing was written: `--matrix` is for `--ci gitea` and `--ci forgejo`"));
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

    /// What its file does not do by itself.
    pub(super) fn missing_steps(self) -> Vec<String> {
        match self {
            Self::Gitea | Self::Forgejo => vec![
                "the secret `REFEREE_TOKEN`: a token of the bot's user with `write:repository`, `write:issue`, `read:user`"
                    .to_owned(),
                format!("`referee` on the PATH of the runner: `{}` says where to put it", self.path()),
            ],
            Self::Github | Self::Gitlab => {
                vec![format!("the workflow for {self:?} posts nothing yet: this build does not speak to it").to_lowercase()]
            }
        }
    }
}

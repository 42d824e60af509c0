//! The environment of a CI job. Gitea's and Forgejo's runners set GitHub's variable names for nearly everything.

use referee_core::model::PullNumber;
use serde_json::Value;
use url::Url;

use crate::session::reference::RepoName;
use referee_forge::ForgeKind;

/// A job of a forge's own CI system, read from its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CiRunner {
    /// The forge, where the runner is unambiguous. Forgejo's runner sets Gitea's variables as well, so both are `None`.
    pub(crate) kind: Option<ForgeKind>,
    pub(crate) server: Url,
    pub(crate) repo: Option<RepoName>,
    /// The pull the job was started for.
    pub(crate) pull: Option<PullNumber>,
}

impl CiRunner {
    /// Reads the variables; `None` outside of a CI job.
    pub(crate) fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let is_set = |name: &str| env(name).is_some_and(|value| value == "true");
        let kind = if is_set("GITEA_ACTIONS") || is_set("FORGEJO_ACTIONS") {
            None
        } else if is_set("GITHUB_ACTIONS") {
            Some(ForgeKind::Github)
        } else {
            return None;
        };
        let named = |name: &str| {
            let found = ["FORGEJO", "GITEA", "GITHUB"].iter().find_map(|whose| env(&format!("{whose}_{name}")));
            found.filter(|value| !value.is_empty())
        };
        let server = Url::parse(&named("SERVER_URL")?).ok().filter(Url::has_host)?;
        let repo = named("REPOSITORY").and_then(|repo| repo.parse().ok());
        let event = named("EVENT_PATH").and_then(|path| std::fs::read(path).ok());
        let event = event.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
        let pull = pull_from_event(&event).or_else(|| pull_from_ref(&named("REF").or_else(|| named("REF_NAME"))?));
        Some(Self { kind, server, repo, pull })
    }
}

/// Returns the pull of an event: a pull request event, or a comment on a pull.
fn pull_from_event(event: &Value) -> Option<PullNumber> {
    let number = |value: &Value| value.get("number").and_then(Value::as_u64).map(PullNumber);
    let pull = event.get("pull_request").filter(|it| it.is_object());
    let commented = event.get("issue").filter(|it| it.get("pull_request").is_some_and(Value::is_object));
    pull.or(commented).and_then(number)
}

/// Parses `refs/pull/7/head` and `refs/pull/7/merge`, also without `refs/pull/`.
fn pull_from_ref(name: &str) -> Option<PullNumber> {
    let name = name.strip_prefix("refs/pull/").unwrap_or(name);
    let digits = name.strip_suffix("/head").or_else(|| name.strip_suffix("/merge"))?;
    digits.parse().ok().map(PullNumber)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn runner(variables: &[(&str, &str)]) -> Option<CiRunner> {
        CiRunner::from_env(&|name| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned()))
    }

    const ACTIONS: (&str, &str) = ("GITEA_ACTIONS", "true");
    const SERVER: (&str, &str) = ("GITHUB_SERVER_URL", "http://gitea:3000");
    const REPO: (&str, &str) = ("GITHUB_REPOSITORY", "acme/api");

    #[test]
    fn server_repository_and_pull_are_read_from_the_environment() {
        let job = runner(&[ACTIONS, SERVER, REPO, ("GITHUB_REF", "refs/pull/7/head")]).expect("a job");
        assert_eq!((job.server.as_str(), job.kind, job.pull), ("http://gitea:3000/", None, Some(PullNumber(7))));
        assert_eq!(job.repo.map(|repo| repo.to_string()).as_deref(), Some("acme/api"));
        let by_name = runner(&[ACTIONS, SERVER, REPO, ("GITHUB_REF_NAME", "8/merge")]).expect("a job");
        assert_eq!(by_name.pull, Some(PullNumber(8)));
        let of_push =
            runner(&[ACTIONS, SERVER, REPO, ("GITHUB_REF", "refs/heads/7/head"), ("GITHUB_REF_NAME", "7/head")]);
        let of_push = of_push.expect("a job");
        assert_eq!(of_push.pull, None, "a branch may be called so");
    }

    #[test]
    fn forgejo_variables_win_over_gitea_and_github_ones() {
        let forgejo =
            [("FORGEJO_ACTIONS", "true"), ("FORGEJO_SERVER_URL", "https://code.example.org"), SERVER, ACTIONS, REPO];
        assert_eq!(runner(&forgejo).expect("a job").server.as_str(), "https://code.example.org/");
    }

    #[test]
    fn without_actions_the_variables_are_ignored() {
        assert_eq!(runner(&[SERVER, REPO]), None);
        assert_eq!(runner(&[("GITEA_ACTIONS", "false"), SERVER, REPO]), None);
        assert_eq!(runner(&[ACTIONS, ("GITHUB_SERVER_URL", "not an address")]), None);
    }

    #[test]
    fn githubs_own_runner_is_recognised() {
        let github = runner(&[("GITHUB_ACTIONS", "true"), SERVER, REPO]).expect("a job");
        assert_eq!(github.kind, Some(ForgeKind::Github));
        // Gitea's runner sets both.
        assert_eq!(runner(&[("GITHUB_ACTIONS", "true"), ACTIONS, SERVER]).expect("a job").kind, None);
    }

    #[test]
    fn an_event_names_its_pull_and_an_event_of_an_issue_does_not() {
        for (event, pull) in [
            (json!({ "number": 7, "pull_request": { "number": 7 } }), Some(7)),
            (json!({ "action": "created", "issue": { "number": 8, "pull_request": { "merged": false } } }), Some(8)),
            (json!({ "action": "created", "issue": { "number": 8, "pull_request": null } }), None),
            (json!({ "number": 7, "issue": { "number": 7 } }), None),
            (json!({ "commits": [] }), None),
        ] {
            assert_eq!(pull_from_event(&event), pull.map(PullNumber), "{event}");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), json!({ "pull_request": { "number": 9 } }).to_string()).expect("a file");
        let path = file.path().to_str().expect("a path");
        let job = runner(&[ACTIONS, SERVER, ("GITHUB_EVENT_PATH", path), ("GITHUB_REF", "refs/pull/7/head")]);
        assert_eq!(job.expect("a job").pull, Some(PullNumber(9)));
    }
}

//! Actions of people on a real server, each with the person's token. An action that the server refuses panics: a script
//! that cannot happen is wrong. Where a test expects a refusal, it uses `ServerPerson::send`, which returns any response.

mod branch;
mod metadata;
mod reviews;

use std::fmt::Display;
use std::sync::Arc;

use referee_core::model::{Login, PullNumber, Sha};
use referee_http::Response;
use serde_json::{Value, json};

use super::RealServer;
use super::accounts::{BOTS, OWNER};
use super::checkout::{Checkout, PersonCredentials};

/// A repository on a server. A lock serialises pushes to it.
#[derive(Clone, Debug)]
pub struct ServerRepo {
    server: RealServer,
    name: String,
    checkout: Arc<Checkout>,
}

/// A person who acts on the repository, or on one pull of it.
#[derive(Clone, Debug)]
pub struct ServerPerson {
    repo: ServerRepo,
    login: String,
    pull: Option<PullNumber>,
}

/// The base branch of all pulls.
pub(super) const BASE_BRANCH: &str = "main";

impl RealServer {
    /// Creates a public repository with these files. Alice, Ruth and both bots get write access, the passer-by does not.
    #[track_caller]
    pub fn create_repo(&self, files: &[(&str, &str)]) -> ServerRepo {
        let name = self.fresh_name("repo");
        let checkout = self.subfolder("checkouts").join(&name);
        let checkout = match Checkout::new(checkout) {
            Ok(checkout) => Arc::new(checkout),
            Err(error) => panic!("cannot create a checkout: {error}"),
        };
        let repo = ServerRepo { server: self.clone(), name: name.clone(), checkout };
        let owner = repo.as_(OWNER);
        let request = json!({"name": name, "default_branch": BASE_BRANCH, "private": false});
        owner.expect_success("create a repository", self.send_as(OWNER, "POST", "/user/repos", Some(&request)));
        for login in ["alice", "ruth"].into_iter().chain(BOTS) {
            owner.call_api(
                "add a collaborator",
                "PUT",
                &format!("/collaborators/{login}"),
                &json!({"permission": "write"}),
            );
        }
        owner.push_first_commit(files);
        repo
    }
}

impl ServerRepo {
    pub fn server(&self) -> &RealServer {
        &self.server
    }

    /// Returns `owner/name`, for example `owner/repo-1`.
    pub fn full_name(&self) -> String {
        format!("{OWNER}/{}", self.name)
    }

    /// Returns the URL of the repository's page, which git clones from too.
    pub fn url(&self) -> String {
        format!("{}/{}", self.server.url(), self.full_name())
    }

    /// Returns the URL of a pull's page.
    pub fn pull_url(&self, pull: PullNumber) -> String {
        format!("{}/pulls/{}", self.url(), pull.0)
    }

    /// Returns the person of that name.
    pub fn as_(&self, login: &str) -> ServerPerson {
        ServerPerson { repo: self.clone(), login: login.to_owned(), pull: None }
    }
}

impl ServerPerson {
    pub fn login(&self) -> Login {
        Login::from(self.login.as_str())
    }

    pub fn repo(&self) -> &ServerRepo {
        &self.repo
    }

    /// Returns the same person, acting on that pull.
    #[must_use]
    pub fn on(&self, pull: PullNumber) -> Self {
        Self { pull: Some(pull), ..self.clone() }
    }

    #[track_caller]
    pub fn pull(&self) -> PullNumber {
        match self.pull {
            Some(pull) => pull,
            None => panic!("{} acts on no pull: select one with `.on(…)`", self.login),
        }
    }

    /// Fetches the pull's JSON.
    #[track_caller]
    pub fn fetch_pull(&self) -> Value {
        self.read_json("read the pull", &format!("/pulls/{}", self.pull().0))
    }

    /// Fetches the pull's head.
    #[track_caller]
    pub fn head(&self) -> Sha {
        Sha::from(self.fetch_pull()["head"]["sha"].as_str().unwrap_or_default())
    }

    /// Sends an API request with this person's token and returns any response. `path` is relative to the repository.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        let path = format!("/repos/{}{path}", self.repo.full_name());
        self.repo.server.send_as(&self.login, method, &path, body)
    }

    #[track_caller]
    fn read_json(&self, what: &str, path: &str) -> Value {
        self.expect_success(what, self.send("GET", path, None))
    }

    #[track_caller]
    fn call_api(&self, what: &str, method: &str, path: &str, body: &Value) -> Value {
        self.expect_success(what, self.send(method, path, Some(body)))
    }

    /// Parses the body as JSON; `null` if it is empty.
    #[track_caller]
    fn expect_success(&self, what: &str, response: Response) -> Value {
        if !response.is_success() {
            self.fail(what, format!("status {}, {}", response.status, String::from_utf8_lossy(&response.body)));
        }
        response.json().unwrap_or_default()
    }

    #[track_caller]
    fn expect_ok<T, E: Display>(&self, what: &str, result: Result<T, E>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => self.fail(what, error),
        }
    }

    #[track_caller]
    fn fail(&self, what: &str, reason: impl Display) -> ! {
        panic!("{} cannot {what} on {}: {reason}\n{}", self.login, self.repo.server.build(), self.repo.server.log())
    }

    fn credentials(&self) -> PersonCredentials<'_> {
        PersonCredentials { login: &self.login, token: self.repo.server.token(&self.login) }
    }
}

/// Returns a numeric id of the server as a string.
fn row_id(row: &Value) -> String {
    row["id"].to_string()
}

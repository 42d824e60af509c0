//! What people do on a real server, in the trade's words and with their own tokens. Deeds that the server refuses
//! panic: a script that cannot happen is wrong. Where a refusal is the point, `Person::ask` takes any answer.

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

/// A repository on a server. One thread at a time pushes to it.
#[derive(Clone, Debug)]
pub struct ServerRepo {
    server: RealServer,
    name: String,
    checkout: Arc<Checkout>,
}

/// Somebody who acts, on a pull if one is named.
#[derive(Clone, Debug)]
pub struct ServerPerson {
    repo: ServerRepo,
    login: String,
    pull: Option<PullNumber>,
}

/// The branch that pulls want into.
pub(super) const BASE_BRANCH: &str = "main";

impl RealServer {
    /// A new public repository with these files. Alice, Ruth and both bots may write, a passer-by may not.
    #[track_caller]
    pub fn create_repo(&self, files: &[(&str, &str)]) -> ServerRepo {
        let name = self.fresh_name("repo");
        let checkout = self.subfolder("checkouts").join(&name);
        let checkout = match Checkout::new(checkout) {
            Ok(checkout) => Arc::new(checkout),
            Err(why) => panic!("no repository can be made: {why}"),
        };
        let repo = ServerRepo { server: self.clone(), name: name.clone(), checkout };
        let owner = repo.as_(OWNER);
        let asked = json!({"name": name, "default_branch": BASE_BRANCH, "private": false});
        owner.expect_success("make a repository", self.send_as(OWNER, "POST", "/user/repos", Some(&asked)));
        for login in ["alice", "ruth"].into_iter().chain(BOTS) {
            owner.call_api(
                "let somebody in",
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
    /// The server it is on.
    pub fn server(&self) -> &RealServer {
        &self.server
    }

    /// Its owner's name and its own: `owner/repo-1`.
    pub fn full_name(&self) -> String {
        format!("{OWNER}/{}", self.name)
    }

    /// Its page, which is also what git clones.
    pub fn url(&self) -> String {
        format!("{}/{}", self.server.url(), self.full_name())
    }

    /// A pull's page.
    pub fn pull_url(&self, pull: PullNumber) -> String {
        format!("{}/pulls/{}", self.url(), pull.0)
    }

    /// Somebody's hands.
    pub fn as_(&self, login: &str) -> ServerPerson {
        ServerPerson { repo: self.clone(), login: login.to_owned(), pull: None }
    }
}

impl ServerPerson {
    /// Their name.
    pub fn login(&self) -> Login {
        Login::from(self.login.as_str())
    }

    /// Where they act.
    pub fn repo(&self) -> &ServerRepo {
        &self.repo
    }

    /// The same person at a pull.
    #[must_use]
    pub fn on(&self, pull: PullNumber) -> Self {
        Self { pull: Some(pull), ..self.clone() }
    }

    /// The pull they act on.
    #[track_caller]
    pub fn pull(&self) -> PullNumber {
        match self.pull {
            Some(pull) => pull,
            None => panic!("{} is at no pull: say `.on(…)`", self.login),
        }
    }

    /// The pull as the server tells it.
    #[track_caller]
    pub fn fetch_pull(&self) -> Value {
        self.read_json("look at the pull", &format!("/pulls/{}", self.pull().0))
    }

    /// The head that the server tells.
    #[track_caller]
    pub fn head(&self) -> Sha {
        Sha::from(self.fetch_pull()["head"]["sha"].as_str().unwrap_or_default())
    }

    /// Asks in this person's name, and takes any answer. The path begins below the repository.
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

    /// The answer as JSON, null if there is none.
    #[track_caller]
    fn expect_success(&self, what: &str, answer: Response) -> Value {
        if !answer.is_success() {
            self.fail(what, format!("status {}, {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        answer.json().unwrap_or_default()
    }

    #[track_caller]
    fn expect_ok<T, E: Display>(&self, what: &str, result: Result<T, E>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => self.fail(what, error),
        }
    }

    #[track_caller]
    fn fail(&self, what: &str, why: impl Display) -> ! {
        panic!("{} cannot {what} on {}: {why}\n{}", self.login, self.repo.server.build(), self.repo.server.log())
    }

    fn credentials(&self) -> PersonCredentials<'_> {
        PersonCredentials { login: &self.login, token: self.repo.server.token(&self.login) }
    }
}

/// An id of the server, as a name.
fn row_id(row: &Value) -> String {
    row["id"].to_string()
}

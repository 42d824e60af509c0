//! What people do on a real server, in the trade's words and with their own tokens. Deeds that the server refuses
//! panic: a script that cannot happen is wrong. Where a refusal is the point, `Person::ask` takes any answer.

mod branch;
mod desk;
mod words;

use std::fmt::Display;
use std::sync::Arc;

use referee_core::model::{Login, PullNumber, Sha};
use referee_http::Answer;
use serde_json::{Value, json};

use super::Server;
use super::checkout::{Checkout, Pen};
use super::people::{BOTS, OWNER};

/// A repository on a server. One thread at a time pushes to it.
#[derive(Clone, Debug)]
pub struct Repo {
    server: Server,
    name: String,
    checkout: Arc<Checkout>,
}

/// Somebody who acts, on a pull if one is named.
#[derive(Clone, Debug)]
pub struct Person {
    repo: Repo,
    login: String,
    pull: Option<PullNumber>,
}

/// The branch that pulls want into.
pub(super) const BASE: &str = "main";

impl Server {
    /// A new public repository with these files. Alice, Ruth and both bots may write, a passer-by may not.
    #[track_caller]
    pub fn repo(&self, files: &[(&str, &str)]) -> Repo {
        let name = self.fresh("repo");
        let checkout = self.folder("checkouts").join(&name);
        let checkout = match Checkout::new(checkout) {
            Ok(checkout) => Arc::new(checkout),
            Err(why) => panic!("no repository can be made: {why}"),
        };
        let repo = Repo { server: self.clone(), name: name.clone(), checkout };
        let owner = repo.as_(OWNER);
        let asked = json!({"name": name, "default_branch": BASE, "private": false});
        owner.sure("make a repository", self.ask(OWNER, "POST", "/user/repos", Some(&asked)));
        for login in ["alice", "ruth"].into_iter().chain(BOTS) {
            owner.deed("let somebody in", "PUT", &format!("/collaborators/{login}"), &json!({"permission": "write"}));
        }
        owner.begin(files);
        repo
    }
}

impl Repo {
    /// The server it is on.
    pub fn server(&self) -> &Server {
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
    pub fn as_(&self, login: &str) -> Person {
        Person { repo: self.clone(), login: login.to_owned(), pull: None }
    }
}

impl Person {
    /// Their name.
    pub fn login(&self) -> Login {
        Login::from(self.login.as_str())
    }

    /// Where they act.
    pub fn repo(&self) -> &Repo {
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
    pub fn look(&self) -> Value {
        self.read("look at the pull", &format!("/pulls/{}", self.pull().0))
    }

    /// The head that the server tells.
    #[track_caller]
    pub fn head(&self) -> Sha {
        Sha::from(self.look()["head"]["sha"].as_str().unwrap_or_default())
    }

    /// Asks in this person's name, and takes any answer. The path begins below the repository.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let path = format!("/repos/{}{path}", self.repo.full_name());
        self.repo.server.ask(&self.login, method, &path, body)
    }

    #[track_caller]
    fn read(&self, what: &str, path: &str) -> Value {
        self.sure(what, self.ask("GET", path, None))
    }

    #[track_caller]
    fn deed(&self, what: &str, method: &str, path: &str, body: &Value) -> Value {
        self.sure(what, self.ask(method, path, Some(body)))
    }

    /// The answer as JSON, null if there is none.
    #[track_caller]
    fn sure(&self, what: &str, answer: Answer) -> Value {
        if !answer.is_success() {
            self.cannot(what, format!("status {}, {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        answer.json().unwrap_or_default()
    }

    #[track_caller]
    fn done<T, E: Display>(&self, what: &str, result: Result<T, E>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => self.cannot(what, error),
        }
    }

    #[track_caller]
    fn cannot(&self, what: &str, why: impl Display) -> ! {
        panic!("{} cannot {what} on {}: {why}\n{}", self.login, self.repo.server.build(), self.repo.server.log())
    }

    fn pen(&self) -> Pen<'_> {
        Pen { login: &self.login, token: self.repo.server.token(&self.login) }
    }
}

/// An id of the server, as a name.
fn id(row: &Value) -> String {
    row["id"].to_string()
}

//! A repository with many open pulls in mixed states, and both programs run against it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use referee_core::model::PullNumber;
use referee_testkit::proxy::Proxy;
use serde_json::Value;

/// A repository with many open pulls.
pub(crate) trait Stage {
    fn count(&self) -> usize;
    /// Counts the requests of both programs.
    fn proxy(&self) -> &Proxy;
    /// The home folder of both programs, with the project file.
    fn home(&self) -> &Path;
    /// Makes a check fail or a person block on ten ready pulls.
    fn change_ten_pulls(&self);

    /// Runs one pass of the shell script.
    fn run_script(&self) -> PassRun {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/dispatch/dev-loop-dispatch.sh");
        let mut bash = Command::new("bash");
        bash.arg(script).arg(self.home().join("api.yaml"));
        self.run_pass(bash)
    }

    /// Runs one pass of referee.
    fn run_referee(&self) -> PassRun {
        let mut referee = Command::new(env!("CARGO_BIN_EXE_referee"));
        referee.args(["dispatch", "api.yaml"]);
        self.run_pass(referee)
    }

    /// Runs a dry pass, so that the next one finds the same state.
    fn run_pass(&self, mut command: Command) -> PassRun {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.home())
            .env("TMPDIR", self.home())
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("DRY_RUN", "1")
            .current_dir(self.home());
        self.proxy().forget();
        let began = Instant::now();
        let output = command.output().expect("it runs");
        let duration = began.elapsed();
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{command:?}: {}\n{}", output.status, words(&output.stderr));
        let mut lines: Vec<String> = words(&output.stdout).lines().map(str::to_owned).collect();
        lines.sort();
        let log = self.proxy().log();
        let git_requests = log.iter().filter(|seen| seen.path.contains(".git/")).count();
        PassRun { lines, requests: log.len() - git_requests, git_requests, duration }
    }

    /// Deletes referee's state and caches.
    fn forget(&self) {
        for folder in [".local", ".cache"] {
            let _ = std::fs::remove_dir_all(self.home().join(folder));
        }
    }
}

/// The output and the cost of a pass.
pub(crate) struct PassRun {
    pub(crate) lines: Vec<String>,
    /// API requests.
    pub(crate) requests: usize,
    pub(crate) git_requests: usize,
    pub(crate) duration: Duration,
}

/// The accounts: alice opens pulls, `sec` posts for the review bot, ruth is a person, referee runs the workers.
pub(crate) trait People {
    fn check(&self, pull: PullNumber, state: &str);
    fn head(&self, pull: PullNumber) -> String;
    fn remark(&self, pull: PullNumber, text: &str);
    fn block(&self, pull: PullNumber, text: &str);
    fn comment(&self, pull: PullNumber, text: &str);
    fn note(&self, pull: PullNumber, resolved: Resolved);
}

/// Whether a thread is resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolved {
    Yes,
    No,
}

/// Puts the nth pull into its state. Of 20 pulls 8 are ready, half of those with a resolved thread; 3 have failed checks,
/// 3 pending checks, 3 wait for the bot, 2 are blocked by a person, 1 has an open question.
pub(crate) fn set_state(people: &impl People, nth: usize, pull: PullNumber) {
    let (state, head) = (nth % 20, people.head(pull));
    people.check(
        pull,
        match state {
            8..11 => "failure",
            11..14 => "pending",
            _ => "success",
        },
    );
    if !(14..17).contains(&state) {
        people.remark(pull, &format!("<!-- review-bot:sonnet -->\n\nEvaluated against {}\n", &head[..8]));
        people.comment(pull, &format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
    }
    match state {
        0 | 2 | 4 | 6 => people.note(pull, Resolved::Yes),
        17..19 => people.block(pull, "not like this"),
        19 => people.note(pull, Resolved::No),
        _ => {}
    }
}

/// Changes ten ready pulls: a check fails on half of them, a person asks for changes on the others.
pub(crate) fn change_pulls(people: &impl People, pulls: &[PullNumber]) {
    let ready = pulls.iter().enumerate().filter(|(nth, _)| nth % 20 < 8).map(|(_, pull)| *pull);
    for (nth, pull) in ready.take(10).enumerate() {
        if nth % 2 == 0 { people.check(pull, "failure") } else { people.block(pull, "not like this") }
    }
}

/// Writes the project file. The script needs labels by their ids.
pub(crate) fn write_project_file(home: &Path, repo: &str, url: &str, token: &str) {
    let labels = format!("{url}/api/v1/repos/{repo}/labels?page=1&limit=50");
    let mut curl = Command::new("curl");
    curl.args(["-sf", "-H", &format!("Authorization: token {token}"), &labels]);
    let labels: Value = serde_json::from_slice(&curl.output().expect("curl runs").stdout).expect("labels");
    let id = |name: &str| {
        let mut all = labels.as_array().expect("a list").iter();
        all.find(|label| label["name"] == name).expect("a label")["id"].clone()
    };
    let text = format!(
        "repo: {repo}\napi_base: {url}/api/v1\ntoken_path: token\nuser: referee\nlabels:\n  wip: {}\n  ready: {}\n\
         review_bots: [sonnet]\nreview_users: [sec]\nassign: ruth\n",
        id("wip"),
        id("ready"),
    );
    std::fs::write(home.join("token"), token).expect("a file");
    std::fs::write(home.join("api.yaml"), text).expect("a file");
}

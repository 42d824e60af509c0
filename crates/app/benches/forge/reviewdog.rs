//! reviewdog, built once from the Go module proxy and kept where the servers are.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use referee_testkit::server::cache_dir;

use crate::course::{Course, Spent};
use crate::site::RunOutput;

pub(crate) struct Reviewdog {
    program: PathBuf,
}

const VERSION: &str = "0.21.0";

impl Reviewdog {
    /// Returns the cached program, or builds it.
    pub(crate) fn install() -> Self {
        let home = cache_dir().expect("a cache folder").join(format!("reviewdog-{VERSION}"));
        if !home.join("reviewdog").is_file() {
            build(&home);
        }
        Self { program: home.join("reviewdog") }
    }

    /// Reviews the pull with the findings, as a CI job does.
    pub(crate) fn review(&self, course: &Course) -> Spent {
        let (site, checkout) = (&course.site, course.checkout());
        let name = site.repo.full_name();
        let (owner, repo) = name.split_once('/').expect("a name");
        let mut command = Command::new(&self.program);
        command
            .args(["-f=rdjson", "-name=lint", "-reporter=gitea-pr-review", "-fail-level=none"])
            .current_dir(&checkout)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", &checkout)
            .env("REVIEWDOG_GITEA_API_TOKEN", site.repo.server().token("referee"))
            .env("GITEA_ADDRESS", site.proxy.url())
            .env("CI_REPO_OWNER", owner)
            .env("CI_REPO_NAME", repo)
            .env("CI_COMMIT", site.at("alice", course.pull).head().as_str())
            .env("CI_PULL_REQUEST", course.pull.0.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        course.count(|| {
            let mut child = command.spawn().expect("reviewdog runs");
            let mut input = child.stdin.take().expect("its input");
            input.write_all(course.findings().to_string().as_bytes()).expect("it reads");
            drop(input);
            let ran = RunOutput::from_output(child.wait_with_output().expect("reviewdog ends"));
            assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        })
    }
}

/// Builds into a temporary folder and renames it, so that a concurrent run never sees a partial build.
fn build(home: &Path) {
    let aside = home.with_extension(std::process::id().to_string());
    let module = format!("github.com/reviewdog/reviewdog/cmd/reviewdog@v{VERSION}");
    let status = Command::new("go").args(["install", &module]).env("GOBIN", &aside).env("GOFLAGS", "-mod=mod").status();
    assert!(status.expect("Go is installed").success(), "reviewdog {VERSION} was not built");
    std::fs::rename(&aside, home).expect("the cache folder is writable");
}

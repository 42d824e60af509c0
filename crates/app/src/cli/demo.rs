//! `referee demo`: runs the whole review loop on a sample repository. Every step runs the real program as a child process,
//! as a user would, and checks its exit code.

mod pedant;
mod repository;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use self::repository::{ChildOutput, DemoRepository, OPERATOR_FILE};
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::session::Options;

/// Run the whole review loop on a sample repository
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Create the repository in this directory and keep it; the directory must be empty or new
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Do not pause between the scenes
    #[arg(long)]
    fast: bool,
    /// Act as the reviewer that always finds something
    #[arg(long, hide = true)]
    as_pedant: bool,
}

/// Pause between two scenes, so that a person can read along.
const SCENE_PAUSE: Duration = Duration::from_millis(900);

/// A file of the sample repository: its path and its text.
macro_rules! sample {
    ($scene:literal, $path:literal) => {
        ($path, include_str!(concat!("demo/sample/", $scene, "/", $path)))
    };
}

const BASE_FILES: &[(&str, &str)] = &[
    sample!("base", "README.md"),
    sample!("base", "referee.toml"),
    sample!("base", "api/users.py"),
    sample!("base", "web/login.js"),
    sample!("base", "src/session.rs"),
    sample!("base", "worker/fetch.go"),
];
const FEATURE_FILES: &[(&str, &str)] = &[
    sample!("feature", "api/users.py"),
    sample!("feature", "web/login.js"),
    sample!("feature", "src/session.rs"),
    sample!("feature", "worker/fetch.go"),
];
const FIXED_FILES: &[(&str, &str)] =
    &[sample!("fixed", "api/users.py"), sample!("fixed", "web/login.js"), sample!("fixed", "worker/fetch.go")];
const THIRD_ROUND_FILES: &[(&str, &str)] = &[sample!("third", "web/login.js")];
const DOCS_FILES: &[(&str, &str)] = &[sample!("docs", "README.md")];

impl DemoArgs {
    pub(super) fn run(self, _: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        if self.as_pedant {
            return pedant::review(out);
        }
        let directory = DemoFolder::open(self.keep.as_deref())?;
        let child_output = if out.json { ChildOutput::Discarded } else { ChildOutput::Inherited };
        let demo = DemoRun {
            repository: DemoRepository::new(directory.path(), child_output)?,
            out,
            with_pauses: !self.fast && out.can_redraw(),
            next_scene: Cell::new(1),
        };
        let writes = demo.run_scenes()?;
        let kept = self.keep.as_ref().map(|dir| dir.display().to_string());
        if out.json {
            out.print_json(&json!({ "schema": "referee/demo-1", "second_run_writes": writes, "kept": kept }));
            return Ok(CliOutcome::Done);
        }
        let kept = kept.map_or_else(
            || "referee demo --keep DIR             runs the demo again and keeps the repository".to_owned(),
            |dir| format!("referee -C {dir} --operator {dir}/{OPERATOR_FILE} explain L1"),
        );
        out.print_data(&format!(
            "\nThe loop is over; {writes} writes in the last run. Nothing was merged, closed or deleted.\n\nTry next:\n  \
             referee review                      reviews the current branch of your own repository and posts nothing\n  \
             referee explain --rule py-sql-text  explains a rule\n  {kept}\n"
        ));
        Ok(CliOutcome::Done)
    }
}

/// The directory of the demo.
enum DemoFolder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl DemoFolder {
    fn open(keep: Option<&std::path::Path>) -> Result<Self, Failure> {
        let Some(dir) = keep else {
            let temporary = tempfile::Builder::new().prefix("referee-demo-").tempdir();
            return temporary.map(Self::Temporary).map_err(|error| {
                Failure::failed(format!("the demo cannot start: no temporary directory could be created: {error}"))
            });
        };
        let entries = std::fs::create_dir_all(dir).and_then(|()| std::fs::read_dir(dir));
        let mut entries =
            entries.map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", dir.display())))?;
        if entries.next().is_some() {
            return Err(Failure::usage(format!("the demo did not run: `{}` is not empty", dir.display()))
                .with_hint("name a directory that does not exist yet"));
        }
        Ok(Self::Kept(dir.to_owned()))
    }

    fn path(&self) -> &std::path::Path {
        match self {
            Self::Kept(dir) => dir,
            Self::Temporary(dir) => dir.path(),
        }
    }
}

struct DemoRun<'a> {
    repository: DemoRepository,
    out: &'a Console,
    with_pauses: bool,
    next_scene: Cell<u32>,
}

impl DemoRun<'_> {
    /// Runs all scenes. Returns the number of writes in the last run, in which nothing has changed.
    fn run_scenes(&self) -> Result<u64, Failure> {
        let Self { repository, .. } = self;
        repository.write_operator()?;
        repository.commit(BASE_FILES, "Notes, as they are")?;
        repository.run_git(&["switch", "--quiet", "--create", "feature/sessions"])?;
        repository.commit(FEATURE_FILES, "Save sessions, search users, fetch pages")?;

        self.begin_scene(
            "Ada pushes a branch with five defects in four languages. Two roles review it: the rules, and a pedant.",
        );
        self.run_referee(&["review"], 20)?;

        self.begin_scene("She fixes three, argues about one, and will not fix another.");
        self.commit_files(FIXED_FILES, "Bind the query, compare roles, close the body")?;
        let disputed = self.find_finding("api/users.py")?;
        let accepted = self.find_finding("src/session.rs")?;
        self.run_referee(&["local", "reply", "L1", &disputed, "I disagree: every caller passes a list"], 0)?;
        self.run_referee(&["local", "reply", "L1", &accepted, "won't fix: a lost session is only a new login"], 0)?;

        self.begin_scene("The second review reads what changed. Fixed threads are resolved with the commit, the argument is answered once.");
        self.run_referee(&["review"], 20)?;

        self.begin_scene("The pedant is never satisfied. After three rounds referee stops the loop and asks a person.");
        self.commit_files(THIRD_ROUND_FILES, "Owners may edit too")?;
        self.run_referee(&["review"], 20)?;
        self.run_referee(&["explain"], 0)?;

        self.begin_scene(
            "This stands on the pull: one summary a role, threads with their answers, what the person is asked.",
        );
        self.run_referee(&["local", "show", "L1"], 0)?;

        self.begin_scene("The person decides, in a comment. The block is lifted; the pedant is not asked again.");
        let (wish, disputed) = (self.find_finding("web/login.js")?, self.find_finding("api/users.py")?);
        let command =
            format!("/referee dismiss {disputed} {wish} callers pass a list, and the server checks the rights");
        self.run_referee(&["local", "comment", "L1", &command], 0)?;
        self.run_referee(&["review"], 0)?;

        self.begin_scene("Another branch, without defects: approved at once.");
        repository.run_git(&["switch", "--quiet", "main"])?;
        repository.run_git(&["switch", "--quiet", "--create", "feature/docs"])?;
        self.commit_files(DOCS_FILES, "Say where sessions are")?;
        self.run_referee(&["review"], 0)?;

        self.begin_scene("The same again: nothing changed, so nothing is written.");
        self.run_referee(&["review"], 0)?;
        self.run_referee(&["status"], 0)?;
        ["L1", "L2"].iter().map(|pull| self.count_writes(pull)).sum()
    }

    /// Runs `review` again and returns how many writes it made.
    fn count_writes(&self, pull: &str) -> Result<u64, Failure> {
        let again = self.repository.read_json(&["review", pull, "--json"])?;
        let writes = again.pointer("/calls/writes").and_then(serde_json::Value::as_u64);
        writes.ok_or_else(|| Failure::failed("the demo stopped: the last run did not report its writes"))
    }

    /// Returns the id of the last finding on a file that still counts.
    fn find_finding(&self, path: &str) -> Result<String, Failure> {
        let document = self.repository.read_json(&["explain", "L1", "--json"])?;
        let findings = document.pointer("/findings").and_then(serde_json::Value::as_array);
        let finding = findings.and_then(|all| all.iter().rfind(|it| it["path"] == path && it["counts"] == true));
        let id = finding.and_then(|finding| finding["id"].as_str()).map(ToOwned::to_owned);
        id.ok_or_else(|| Failure::failed(format!("the demo stopped: no finding on `{path}`")))
    }

    fn commit_files(&self, files: &[(&str, &str)], message: &str) -> Result<(), Failure> {
        self.print(&format!("$ git commit --all --message \"{message}\""));
        self.repository.commit(files, message)
    }

    fn begin_scene(&self, caption: &str) {
        if self.with_pauses {
            std::thread::park_timeout(SCENE_PAUSE);
        }
        let bold = anstyle::Style::new().bold();
        let number = self.next_scene.replace(self.next_scene.get() + 1);
        self.print(&format!("\n{bold}{number}. {caption}{bold:#}\n"));
    }

    fn print(&self, line: &str) {
        if !self.out.json {
            self.out.print_data(&format!("{line}\n"));
        }
    }

    fn run_referee(&self, args: &[&str], expected_exit: u8) -> Result<(), Failure> {
        let quoted: Vec<String> =
            args.iter().map(|arg| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() }).collect();
        self.print(&format!("$ referee {}", quoted.join(" ")));
        self.repository.run_referee(args, expected_exit)
    }
}

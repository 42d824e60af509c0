//! `referee demo`: the whole loop, played to its end on a small repository by the real commands. What is shown is what
//! is stored; each command is run as a user would run it, and its exit code is part of the play.

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

/// Play the whole loop to its end on a sample repository
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Keep the repository here; the folder must be empty or new
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// No pauses
    #[arg(long)]
    fast: bool,
    /// Be the reviewer that is never content
    #[arg(long, hide = true)]
    as_pedant: bool,
}

/// How long a scene stands before the next one.
const SCENE_PAUSE: Duration = Duration::from_millis(900);

/// A file of the sample.
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
        let folder = DemoFolder::open(self.keep.as_deref())?;
        let shown = if out.json { ChildOutput::Discarded } else { ChildOutput::Inherited };
        let play = DemoRun {
            repository: DemoRepository::new(folder.path(), shown)?,
            out,
            with_pauses: !self.fast && out.can_redraw(),
            next_scene: Cell::new(1),
        };
        let writes = play.run_scenes()?;
        let kept = self.keep.as_ref().map(|dir| dir.display().to_string());
        if out.json {
            out.print_json(&json!({ "schema": "referee/demo-1", "second_run_writes": writes, "kept": kept }));
            return Ok(CliOutcome::Done);
        }
        let kept = kept.map_or_else(
            || "referee demo --keep DIR             plays it again, and keeps the repository".to_owned(),
            |dir| format!("referee -C {dir} --operator {dir}/{OPERATOR_FILE} explain L1"),
        );
        out.print_data(&format!(
            "\nThe loop is over; {writes} writes in the last run. Nothing was merged, closed or deleted.\n\nTry next:\n  \
             referee review                      in a repository of yours: reads the current branch, posts nothing\n  \
             referee explain --rule py-sql-text  says why a rule is there\n  {kept}\n"
        ));
        Ok(CliOutcome::Done)
    }
}

/// The folder played in.
enum DemoFolder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl DemoFolder {
    fn open(keep: Option<&std::path::Path>) -> Result<Self, Failure> {
        let Some(dir) = keep else {
            let passing = tempfile::Builder::new().prefix("referee-demo-").tempdir();
            return passing
                .map(Self::Temporary)
                .map_err(|error| Failure::failed(format!("no folder to play in: {error}")));
        };
        let made = std::fs::create_dir_all(dir).and_then(|()| std::fs::read_dir(dir));
        let mut there = made.map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", dir.display())))?;
        if there.next().is_some() {
            return Err(Failure::usage(format!("`{}` is not empty: nothing was played", dir.display()))
                .with_hint("name a folder that does not exist yet"));
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
    /// The number of the next scene.
    next_scene: Cell<u32>,
}

impl DemoRun<'_> {
    /// All scenes; the number of writes in the last, quiet run.
    fn run_scenes(&self) -> Result<u64, Failure> {
        let Self { repository: stage, .. } = self;
        stage.write_operator()?;
        stage.commit(BASE_FILES, "Notes, as they are")?;
        stage.run_git(&["switch", "--quiet", "--create", "feature/sessions"])?;
        stage.commit(FEATURE_FILES, "Save sessions, search users, fetch pages")?;

        self.begin_scene(
            "Ada pushes a branch with five defects in four languages. Two roles review it: the rules, and a pedant.",
        );
        self.run_referee(&["review"], 20)?;

        self.begin_scene("She fixes three, argues about one, and will not fix another.");
        self.commit_files(FIXED_FILES, "Bind the query, compare roles, close the body")?;
        let argued = self.find_finding("api/users.py")?;
        let left = self.find_finding("src/session.rs")?;
        self.run_referee(&["local", "reply", "L1", &argued, "I disagree: every caller passes a list"], 0)?;
        self.run_referee(&["local", "reply", "L1", &left, "won't fix: a lost session is only a new login"], 0)?;

        self.begin_scene("The second review reads what changed. Fixed threads are resolved with the commit, the argument is answered once.");
        self.run_referee(&["review"], 20)?;

        self.begin_scene(
            "The pedant is never content. After three rounds nobody is sent round again: a person is asked.",
        );
        self.commit_files(THIRD_ROUND_FILES, "Owners may edit too")?;
        self.run_referee(&["review"], 20)?;
        self.run_referee(&["explain"], 0)?;

        self.begin_scene(
            "This stands on the pull: one summary a role, threads with their answers, what the person is asked.",
        );
        self.run_referee(&["local", "show", "L1"], 0)?;

        self.begin_scene("The person decides, in a comment. The block is lifted; the pedant is not asked again.");
        let (wish, argued) = (self.find_finding("web/login.js")?, self.find_finding("api/users.py")?);
        let words = format!("/referee dismiss {argued} {wish} callers pass a list, and the server checks the rights");
        self.run_referee(&["local", "comment", "L1", &words], 0)?;
        self.run_referee(&["review"], 0)?;

        self.begin_scene("Another branch, without defects: approved at once.");
        stage.run_git(&["switch", "--quiet", "main"])?;
        stage.run_git(&["switch", "--quiet", "--create", "feature/docs"])?;
        self.commit_files(DOCS_FILES, "Say where sessions are")?;
        self.run_referee(&["review"], 0)?;

        self.begin_scene("The same again: nothing changed, so nothing is written.");
        self.run_referee(&["review"], 0)?;
        self.run_referee(&["status"], 0)?;
        ["L1", "L2"].iter().map(|pull| self.count_writes(pull)).sum()
    }

    /// How much one more run writes.
    fn count_writes(&self, pull: &str) -> Result<u64, Failure> {
        let again = self.repository.read_json(&["review", pull, "--json"])?;
        let writes = again.pointer("/calls/writes").and_then(serde_json::Value::as_u64);
        writes.ok_or_else(|| Failure::failed("the last run did not say what it wrote"))
    }

    /// The last finding on a file that still counts, whatever its number.
    fn find_finding(&self, path: &str) -> Result<String, Failure> {
        let document = self.repository.read_json(&["explain", "L1", "--json"])?;
        let findings = document.pointer("/findings").and_then(serde_json::Value::as_array);
        let found = findings.and_then(|all| all.iter().rfind(|it| it["path"] == path && it["counts"] == true));
        let id = found.and_then(|found| found["id"].as_str()).map(ToOwned::to_owned);
        id.ok_or_else(|| Failure::failed(format!("the demo stopped: nothing was found on `{path}`")))
    }

    fn commit_files(&self, files: &[(&str, &str)], message: &str) -> Result<(), Failure> {
        self.print(&format!("$ git commit --all --message \"{message}\""));
        self.repository.commit(files, message)
    }

    fn begin_scene(&self, words: &str) {
        if self.with_pauses {
            // A person reads along: nothing is waited for.
            std::thread::park_timeout(SCENE_PAUSE);
        }
        let strong = anstyle::Style::new().bold();
        let number = self.next_scene.replace(self.next_scene.get() + 1);
        self.print(&format!("\n{strong}{number}. {words}{strong:#}\n"));
    }

    fn print(&self, words: &str) {
        if !self.out.json {
            self.out.print_data(&format!("{words}\n"));
        }
    }

    fn run_referee(&self, args: &[&str], ends: u8) -> Result<(), Failure> {
        let quoted: Vec<String> =
            args.iter().map(|arg| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() }).collect();
        self.print(&format!("$ referee {}", quoted.join(" ")));
        self.repository.run_referee(args, ends)
    }
}

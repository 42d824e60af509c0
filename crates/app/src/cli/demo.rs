//! `referee demo`: the whole loop, played to its end on a small repository by the real commands. What is shown is what
//! is stored; each command is run as a user would run it, and its exit code is part of the play.

mod pedant;
mod stage;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use self::stage::{OPERATOR, Shown, Stage};
use super::Common;
use crate::failure::{Ending, Failure};
use crate::out::Out;

/// Play the whole loop to its end on a sample repository
#[derive(Debug, Args)]
pub(super) struct Demo {
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
const PAUSE: Duration = Duration::from_millis(900);

/// A file of the sample.
macro_rules! sample {
    ($scene:literal, $path:literal) => {
        ($path, include_str!(concat!("demo/sample/", $scene, "/", $path)))
    };
}

const BASE: &[(&str, &str)] = &[
    sample!("base", "README.md"),
    sample!("base", "referee.toml"),
    sample!("base", "api/users.py"),
    sample!("base", "web/login.js"),
    sample!("base", "src/session.rs"),
    sample!("base", "worker/fetch.go"),
];
const FEATURE: &[(&str, &str)] = &[
    sample!("feature", "api/users.py"),
    sample!("feature", "web/login.js"),
    sample!("feature", "src/session.rs"),
    sample!("feature", "worker/fetch.go"),
];
const FIXED: &[(&str, &str)] =
    &[sample!("fixed", "api/users.py"), sample!("fixed", "web/login.js"), sample!("fixed", "worker/fetch.go")];
const THIRD: &[(&str, &str)] = &[sample!("third", "web/login.js")];
const DOCS: &[(&str, &str)] = &[sample!("docs", "README.md")];

impl Demo {
    pub(super) fn run(self, _: &Common, out: &Out) -> Result<Ending, Failure> {
        if self.as_pedant {
            return pedant::review(out);
        }
        let folder = Folder::of(self.keep.as_deref())?;
        let shown = if out.json { Shown::No } else { Shown::Yes };
        let play = Play {
            stage: Stage::new(folder.path(), shown)?,
            out,
            pause: !self.fast && out.redraws(),
            scenes: Cell::new(1),
        };
        let writes = play.all()?;
        let kept = self.keep.as_ref().map(|dir| dir.display().to_string());
        if out.json {
            out.document(&json!({ "schema": "referee/demo-1", "second_run_writes": writes, "kept": kept }));
            return Ok(Ending::Done);
        }
        let kept = kept.map_or_else(
            || "referee demo --keep DIR             plays it again, and keeps the repository".to_owned(),
            |dir| format!("referee -C {dir} --operator {dir}/{OPERATOR} explain L1"),
        );
        out.data(&format!(
            "\nThe loop is over; {writes} writes in the last run. Nothing was merged, closed or deleted.\n\nTry next:\n  \
             referee review                      in a repository of yours: reads the current branch, posts nothing\n  \
             referee explain --rule py-sql-text  says why a rule is there\n  {kept}\n"
        ));
        Ok(Ending::Done)
    }
}

/// The folder played in.
enum Folder {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Folder {
    fn of(keep: Option<&std::path::Path>) -> Result<Self, Failure> {
        let Some(dir) = keep else {
            let passing = tempfile::Builder::new().prefix("referee-demo-").tempdir();
            return passing
                .map(Self::Passing)
                .map_err(|error| Failure::failed(format!("no folder to play in: {error}")));
        };
        let made = std::fs::create_dir_all(dir).and_then(|()| std::fs::read_dir(dir));
        let mut there = made.map_err(|error| Failure::usage(format!("`{}` cannot be used: {error}", dir.display())))?;
        if there.next().is_some() {
            return Err(Failure::usage(format!("`{}` is not empty: nothing was played", dir.display()))
                .hint("name a folder that does not exist yet"));
        }
        Ok(Self::Kept(dir.to_owned()))
    }

    fn path(&self) -> &std::path::Path {
        match self {
            Self::Kept(dir) => dir,
            Self::Passing(dir) => dir.path(),
        }
    }
}

struct Play<'a> {
    stage: Stage,
    out: &'a Out,
    pause: bool,
    /// The number of the next scene.
    scenes: Cell<u32>,
}

impl Play<'_> {
    /// All scenes; the number of writes in the last, quiet run.
    fn all(&self) -> Result<u64, Failure> {
        let Self { stage, .. } = self;
        stage.write_operator()?;
        stage.commit(BASE, "Notes, as they are")?;
        stage.git(&["switch", "--quiet", "--create", "feature/sessions"])?;
        stage.commit(FEATURE, "Save sessions, search users, fetch pages")?;

        self.scene(
            "Ada pushes a branch with five defects in four languages. Two roles review it: the rules, and a pedant.",
        );
        self.referee(&["review"], 20)?;

        self.scene("She fixes three, argues about one, and will not fix another.");
        self.push(FIXED, "Bind the query, compare roles, close the body")?;
        let argued = self.finding_on("api/users.py")?;
        let left = self.finding_on("src/session.rs")?;
        self.referee(&["local", "reply", "L1", &argued, "I disagree: every caller passes a list"], 0)?;
        self.referee(&["local", "reply", "L1", &left, "won't fix: a lost session is only a new login"], 0)?;

        self.scene("The second review reads what changed. Fixed threads are resolved with the commit, the argument is answered once.");
        self.referee(&["review"], 20)?;

        self.scene("The pedant is never content. After three rounds nobody is sent round again: a person is asked.");
        self.push(THIRD, "Owners may edit too")?;
        self.referee(&["review"], 20)?;
        self.referee(&["explain"], 0)?;

        self.scene(
            "This stands on the pull: one summary a role, threads with their answers, what the person is asked.",
        );
        self.referee(&["local", "show", "L1"], 0)?;

        self.scene("The person decides, in a comment. The block is lifted; the pedant is not asked again.");
        let (wish, argued) = (self.finding_on("web/login.js")?, self.finding_on("api/users.py")?);
        let words = format!("/referee dismiss {argued} {wish} callers pass a list, and the server checks the rights");
        self.referee(&["local", "comment", "L1", &words], 0)?;
        self.referee(&["review"], 0)?;

        self.scene("Another branch, without defects: approved at once.");
        stage.git(&["switch", "--quiet", "main"])?;
        stage.git(&["switch", "--quiet", "--create", "feature/docs"])?;
        self.push(DOCS, "Say where sessions are")?;
        self.referee(&["review"], 0)?;

        self.scene("The same again: nothing changed, so nothing is written.");
        self.referee(&["review"], 0)?;
        self.referee(&["status"], 0)?;
        ["L1", "L2"].iter().map(|pull| self.writes(pull)).sum()
    }

    /// How much one more run writes.
    fn writes(&self, pull: &str) -> Result<u64, Failure> {
        let again = self.stage.data(&["review", pull, "--json"])?;
        let writes = again.pointer("/calls/writes").and_then(serde_json::Value::as_u64);
        writes.ok_or_else(|| Failure::failed("the last run did not say what it wrote"))
    }

    /// The last finding on a file that still counts, whatever its number.
    fn finding_on(&self, path: &str) -> Result<String, Failure> {
        let document = self.stage.data(&["explain", "L1", "--json"])?;
        let findings = document.pointer("/findings").and_then(serde_json::Value::as_array);
        let found = findings.and_then(|all| all.iter().rfind(|it| it["path"] == path && it["counts"] == true));
        let id = found.and_then(|found| found["id"].as_str()).map(ToOwned::to_owned);
        id.ok_or_else(|| Failure::failed(format!("the demo stopped: nothing was found on `{path}`")))
    }

    fn push(&self, files: &[(&str, &str)], message: &str) -> Result<(), Failure> {
        self.say(&format!("$ git commit --all --message \"{message}\""));
        self.stage.commit(files, message)
    }

    fn scene(&self, words: &str) {
        if self.pause {
            // A person reads along: nothing is waited for.
            std::thread::park_timeout(PAUSE);
        }
        let strong = anstyle::Style::new().bold();
        let number = self.scenes.replace(self.scenes.get() + 1);
        self.say(&format!("\n{strong}{number}. {words}{strong:#}\n"));
    }

    fn say(&self, words: &str) {
        if !self.out.json {
            self.out.data(&format!("{words}\n"));
        }
    }

    fn referee(&self, args: &[&str], ends: u8) -> Result<(), Failure> {
        let quoted: Vec<String> =
            args.iter().map(|arg| if arg.contains(' ') { format!("\"{arg}\"") } else { (*arg).to_owned() }).collect();
        self.say(&format!("$ referee {}", quoted.join(" ")));
        self.stage.referee(args, ends)
    }
}

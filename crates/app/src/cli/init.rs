//! `referee init`: writes the config and CI files, overwrites nothing, and says what is still missing.

mod workflow;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use workflow::Ci;

use super::Common;
use crate::config;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::place::Place;
use crate::setup::FILE;
use crate::store::Access;

/// Write `referee.toml` and CI files, and say what is missing
#[derive(Debug, Args)]
pub(super) struct Init {
    /// A workflow for this forge too; may be given more than once
    #[arg(long = "ci", value_name = "FORGE")]
    ci: Vec<Ci>,
    /// One job for each role in that workflow, in place of one for all
    #[arg(long, requires = "ci")]
    matrix: bool,
    /// A git hook too
    #[arg(long, value_name = "HOOK")]
    hooks: Option<Hook>,
    /// Show what would be written, write nothing
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hook {
    PrePush,
}

/// A file to be written.
struct Planned {
    path: PathBuf,
    /// As it is shown.
    name: String,
    text: String,
    runs: bool,
}

impl Init {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let place = Place::open(common, Access::Read)?;
        let Some(top) = place.git.top() else {
            return Err(Failure::usage("nothing was written: a bare repository has no work tree"));
        };
        let mut told = Vec::new();
        for planned in self.plan(&place, top)? {
            let what = write(&planned, self.check)?;
            if !out.json {
                out.data(&format!("{what:<11} {}\n", planned.name));
            }
            if self.check && what == "would write" && !out.json {
                out.data(&planned.text.lines().map(|line| format!("  + {line}\n")).collect::<String>());
            }
            told.push(json!({ "file": planned.name, "did": what }));
        }
        let missing = self.missing();
        if out.json {
            out.document(&json!({ "schema": "referee/init-1", "files": told, "missing": missing }));
        } else {
            missing.iter().for_each(|what| out.data(&format!("{:<11} {what}\n", "not done")));
        }
        out.say("next: commit this on the default branch to make it count; `referee review` reviews this branch now");
        Ok(Ending::Done)
    }

    fn plan(&self, place: &Place, top: &Path) -> Result<Vec<Planned>, Failure> {
        let file =
            |name: &str, text: String| Planned { path: top.join(name), name: name.to_owned(), text, runs: false };
        let mut planned = vec![file(FILE, config::example().to_owned())];
        let config = fs::read_to_string(top.join(FILE)).unwrap_or_else(|_| config::example().to_owned());
        for ci in &self.ci {
            planned.push(file(ci.path(), if self.matrix { ci.matrix(&config)? } else { ci.text() }));
        }
        if let Some(Hook::PrePush) = self.hooks {
            planned.push(Planned {
                path: place.git.common_dir().join("hooks/pre-push"),
                name: "hooks/pre-push of the git folder".to_owned(),
                text: include_str!("init/pre-push").to_owned(),
                runs: true,
            });
        }
        Ok(planned)
    }

    fn missing(&self) -> Vec<String> {
        self.ci.iter().flat_map(|ci| ci.missing()).collect()
    }
}

/// Writes a file that is not there; says what was done.
fn write(planned: &Planned, check: bool) -> Result<&'static str, Failure> {
    let Planned { path, name, text, runs } = planned;
    match fs::read_to_string(path) {
        Ok(there) if there == *text => return Ok("has"),
        Ok(_) => return Ok("kept"),
        Err(_) if path.exists() => return Ok("kept"),
        Err(_) if check => return Ok("would write"),
        Err(_) => {}
    }
    let failed = |error: std::io::Error| {
        Failure::failed(format!("`{name}` was not written: {error}")).hint("files written before it are kept")
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // Nothing is overwritten, not even what somebody puts there at this moment.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    #[cfg(unix)]
    if *runs {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    #[cfg(not(unix))]
    let _ = runs;
    Ok("wrote")
}

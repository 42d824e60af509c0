//! `referee init`: writes the config and CI files, overwrites nothing, and says what is still missing.

mod workflow;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;
use workflow::CiSystem;

use crate::config;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::session::Options;
use crate::session::config_files::FILE_NAME;
use crate::session::local::LocalCheckout;
use crate::store::StoreAccess;

/// Write `referee.toml` and CI files, and say what is missing
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// A workflow for this forge too; may be given more than once
    #[arg(long = "ci", value_name = "FORGE")]
    ci: Vec<CiSystem>,
    /// One job for each role in that workflow, in place of one for all
    #[arg(long, requires = "ci")]
    matrix: bool,
    /// A git hook too
    #[arg(long, value_name = "HOOK")]
    hooks: Option<GitHook>,
    /// Show what would be written, write nothing
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GitHook {
    PrePush,
}

/// A file to be written.
struct PlannedFile {
    path: PathBuf,
    /// As it is shown.
    display_name: String,
    text: String,
    executable: bool,
}

impl InitArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let place = LocalCheckout::open(options, StoreAccess::Read)?;
        let Some(top) = place.git.work_tree_root() else {
            return Err(Failure::usage("nothing was written: a bare repository has no work tree"));
        };
        let mut told = Vec::new();
        for planned in self.plan_files(&place, top)? {
            let what = write_file(&planned, self.check)?;
            if !out.json {
                out.print_data(&format!("{what:<11} {}\n", planned.display_name));
            }
            if self.check && what == "would write" && !out.json {
                out.print_data(&planned.text.lines().map(|line| format!("  + {line}\n")).collect::<String>());
            }
            told.push(json!({ "file": planned.display_name, "did": what }));
        }
        let missing = self.missing_steps();
        if out.json {
            out.print_json(&json!({ "schema": "referee/init-1", "files": told, "missing": missing }));
        } else {
            missing.iter().for_each(|what| out.print_data(&format!("{:<11} {what}\n", "not done")));
        }
        out.print_info(
            "next: commit this on the default branch to make it count; `referee review` reviews this branch now",
        );
        Ok(CliOutcome::Done)
    }

    fn plan_files(&self, place: &LocalCheckout, top: &Path) -> Result<Vec<PlannedFile>, Failure> {
        let file = |name: &str, text: String| PlannedFile {
            path: top.join(name),
            display_name: name.to_owned(),
            text,
            executable: false,
        };
        let mut planned = vec![file(FILE_NAME, config::repository_example().to_owned())];
        let config =
            fs::read_to_string(top.join(FILE_NAME)).unwrap_or_else(|_| config::repository_example().to_owned());
        for ci in &self.ci {
            planned.push(file(ci.path(), if self.matrix { ci.render_matrix(&config)? } else { ci.render() }));
        }
        if let Some(GitHook::PrePush) = self.hooks {
            planned.push(PlannedFile {
                path: place.git.common_dir().join("hooks/pre-push"),
                display_name: "hooks/pre-push of the git folder".to_owned(),
                text: include_str!("init/pre-push").to_owned(),
                executable: true,
            });
        }
        Ok(planned)
    }

    fn missing_steps(&self) -> Vec<String> {
        self.ci.iter().flat_map(|ci| ci.missing_steps()).collect()
    }
}

/// Writes a file that is not there; says what was done.
fn write_file(planned: &PlannedFile, check: bool) -> Result<&'static str, Failure> {
    let PlannedFile { path, display_name: name, text, executable: runs } = planned;
    match fs::read_to_string(path) {
        Ok(there) if there == *text => return Ok("has"),
        Ok(_) => return Ok("kept"),
        Err(_) if path.exists() => return Ok("kept"),
        Err(_) if check => return Ok("would write"),
        Err(_) => {}
    }
    let failed = |error: std::io::Error| {
        Failure::failed(format!("`{name}` was not written: {error}")).with_hint("files written before it are kept")
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

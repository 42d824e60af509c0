//! `referee init`: writes the config and CI files without overwriting any, and lists what is still missing.

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

/// Write `referee.toml` and CI files, and list what is still missing
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Also write a CI workflow for this forge; may be given more than once
    #[arg(long = "ci", value_name = "FORGE")]
    ci: Vec<CiSystem>,
    /// Write a workflow with one job per role instead of one job for all
    #[arg(long, requires = "ci")]
    matrix: bool,
    /// Also write this git hook
    #[arg(long, value_name = "HOOK")]
    hooks: Option<GitHook>,
    /// Show what would be written without writing it
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GitHook {
    PrePush,
}

/// A file to write unless it exists.
struct PlannedFile {
    path: PathBuf,
    /// The name of the file in messages.
    display_name: String,
    text: String,
    executable: bool,
}

impl InitArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let checkout = LocalCheckout::open(options, StoreAccess::Read)?;
        let Some(root) = checkout.git.work_tree_root() else {
            return Err(Failure::usage("nothing was written: this is a bare repository, without a work tree"));
        };
        let (mut results, mut missing) = (Vec::new(), self.missing_steps());
        for planned in self.plan_files(&checkout, root)? {
            let result = write_file(&planned, self.check)?;
            if !out.json {
                out.print_data(&format!("{result:<11} {}\n", planned.display_name));
            }
            if self.check && result == "would write" && !out.json {
                out.print_data(&planned.text.lines().map(|line| format!("  + {line}\n")).collect::<String>());
            }
            if planned.executable && result == "kept" {
                missing.push(format!("call `referee hook pre-push \"$@\"` in {}", planned.display_name));
            }
            results.push(json!({ "file": planned.display_name, "did": result }));
        }
        if out.json {
            out.print_json(&json!({ "schema": "referee/init-1", "files": results, "missing": missing }));
        } else {
            missing.iter().for_each(|step| out.print_data(&format!("{:<11} {step}\n", "not done")));
        }
        out.print_info(
            "next: commit these files on the default branch, where referee reads its config; `referee review` reviews this branch",
        );
        Ok(CliOutcome::Done)
    }

    fn plan_files(&self, checkout: &LocalCheckout, root: &Path) -> Result<Vec<PlannedFile>, Failure> {
        let file = |name: &str, text: String| PlannedFile {
            path: root.join(name),
            display_name: name.to_owned(),
            text,
            executable: false,
        };
        let mut planned = vec![file(FILE_NAME, config::repository_example().to_owned())];
        let config =
            fs::read_to_string(root.join(FILE_NAME)).unwrap_or_else(|_| config::repository_example().to_owned());
        for ci in &self.ci {
            planned.push(file(ci.path(), if self.matrix { ci.render_matrix(&config)? } else { ci.render() }));
        }
        if let Some(GitHook::PrePush) = self.hooks {
            let hooks_dir = checkout.git.hooks_dir()?;
            let display_name = if hooks_dir == checkout.git.common_dir().join("hooks") {
                "hooks/pre-push of the git directory".to_owned()
            } else {
                format!("{}/pre-push (`core.hooksPath`)", hooks_dir.display())
            };
            planned.push(PlannedFile {
                path: hooks_dir.join("pre-push"),
                display_name,
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

/// Writes a file unless it exists. Returns the result as a word for the output.
fn write_file(planned: &PlannedFile, check: bool) -> Result<&'static str, Failure> {
    let PlannedFile { path, display_name: name, text, executable } = planned;
    match fs::read_to_string(path) {
        Ok(existing) if existing == *text => return Ok("has"),
        Ok(_) => return Ok("kept"),
        Err(_) if path.exists() => return Ok("kept"),
        Err(_) if check => return Ok("would write"),
        Err(_) => {}
    }
    let failed = |error: std::io::Error| {
        Failure::failed(format!("`{name}` was not written: {error}"))
            .with_hint("files written before it are kept; run `referee init` again for the others")
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    // `create_new` also protects a file that another process creates at this moment.
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    #[cfg(unix)]
    if *executable {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    #[cfg(not(unix))]
    let _ = executable;
    Ok("wrote")
}

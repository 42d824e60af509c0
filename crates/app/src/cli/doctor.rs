//! `referee doctor`: checks this machine, this repository, its config and the token.
//!
//! `--json` is `referee/doctor-1`: `lines` of `state` (`ok warn fail unknown`), `what`, `words` and an optional `hint`; `values`
//! of `key`, `value`, `from`; and, if there is a forge, `forge` with its `server`, `repo` and `lines`.

mod forge;
mod sandbox;
mod workers;

use anstyle::{AnsiColor, Style};
use clap::Args;
use forge::ForgeDiagnosis;
use referee_forge::BranchTip;
use referee_git::CheckedOut;
use serde::Serialize;
use serde_json::json;

use crate::config::{ResolvedConfig, ReviewerKind};
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::reviewers;
use crate::session::Options;
use crate::session::config_files::{self, default_operator_path};
use crate::session::local::LocalCheckout;
use crate::session::source::GitSource;
use crate::store::StoreAccess;

/// Check this machine, this repository, its config and the token
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Show every config value and where it comes from
    #[arg(long)]
    values: bool,
    /// Test the sandbox of workers by trying to break out of it
    #[arg(long)]
    sandbox: bool,
    /// The tier to test [default: the highest available tier]
    #[arg(long, value_name = "N", requires = "sandbox", conflicts_with = "values")]
    tier: Option<u8>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DoctorState {
    Ok,
    Warn,
    Fail,
    Unknown,
}

/// One check and its result.
#[derive(Debug, Serialize)]
struct DoctorLine {
    state: DoctorState,
    what: &'static str,
    #[serde(rename = "words")]
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Everything that was checked.
struct Diagnosis {
    lines: Vec<DoctorLine>,
    /// Key, value and origin of every config value.
    values: Vec<(String, String, String)>,
    /// `None` where pull requests are local, and where the forge could not be read.
    forge: Option<ForgeDiagnosis>,
}

impl DoctorArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        if self.sandbox {
            return sandbox::run_probes(self.tier, out);
        }
        let diagnosis = Diagnosis::collect(options, out).await;
        if out.json {
            out.print_json(&diagnosis.to_json());
        } else {
            diagnosis.all_lines().for_each(|line| out.print_data(&line.render()));
            if self.values {
                for (key, value, from) in &diagnosis.values {
                    out.print_data(&format!("value    {key} = {value} ({from})\n"));
                }
            }
        }
        let problems = diagnosis.all_lines().filter(|line| line.state != DoctorState::Ok);
        for hint in problems.filter_map(|line| line.hint.as_deref()) {
            out.print_line(&format!("hint: {hint}"));
        }
        if diagnosis.all_lines().any(|line| line.state == DoctorState::Fail) {
            out.print_info("next: fix what fails, then run `referee doctor` again");
            return Ok(CliOutcome::Failed);
        }
        out.print_info("next: `referee review` reviews the current branch");
        Ok(CliOutcome::Done)
    }
}

impl Diagnosis {
    async fn collect(options: &Options, out: &Console) -> Self {
        let mut lines = Vec::new();
        let mut values = Vec::new();
        let forge = forge::inspect_forge(options).await;
        match LocalCheckout::open(options, StoreAccess::Read) {
            Ok(checkout) => {
                check_repository(&checkout, &mut lines);
                values = check_config(&checkout, options, out, &mut lines);
            }
            Err(_) if matches!(forge, Ok(Some(_))) => {
                lines.push(doctor_line(
                    DoctorState::Unknown,
                    "repository",
                    "this directory is not a checkout: only the forge was checked",
                ));
            }
            Err(failure) => {
                lines.push(
                    failed_line("repository", &failure)
                        .with_hint("run it in a git repository, or name one with `-C DIR`"),
                );
            }
        }
        check_rules(&mut lines);
        lines.push(doctor_line(DoctorState::Ok, "may not", "merge, close, dismiss or delete: there is no such call"));
        lines.push(doctor_line(DoctorState::Unknown, "models", "this build runs no models"));
        let forge = match forge {
            Ok(Some(forge)) => Some(forge),
            Ok(None) => {
                lines.push(doctor_line(DoctorState::Ok, "forge", "none: pull requests are local"));
                None
            }
            Err(failure) => {
                lines.push(failed_line("forge", &failure));
                None
            }
        };
        Self { lines, values, forge }
    }

    fn all_lines(&self) -> impl Iterator<Item = &DoctorLine> {
        self.lines.iter().chain(self.forge.iter().flat_map(|forge| &forge.lines))
    }

    fn to_json(&self) -> serde_json::Value {
        let Self { lines, values, forge } = self;
        let values: Vec<_> =
            values.iter().map(|(key, value, from)| json!({ "key": key, "value": value, "from": from })).collect();
        let mut document = json!({ "schema": "referee/doctor-1", "lines": lines, "values": values });
        if let Some(forge) = forge {
            document["forge"] = json!(forge);
        }
        document
    }
}

fn check_repository(checkout: &LocalCheckout, lines: &mut Vec<DoctorLine>) {
    let head = match checkout.git.head() {
        Ok(CheckedOut::Branch { name, commit: Some(commit) }) => format!("on {name} at {}", commit.short()),
        Ok(CheckedOut::Branch { name, commit: None }) => format!("on {name}, without commits"),
        Ok(CheckedOut::Detached(commit)) => format!("detached at {}", commit.short()),
        Err(error) => return lines.push(doctor_line(DoctorState::Fail, "repository", error.to_string())),
    };
    lines.push(doctor_line(DoctorState::Ok, "repository", head));
    match checkout.git.default_branch() {
        Ok(Some(name)) => lines.push(doctor_line(DoctorState::Ok, "base", format!("{name} is the default branch"))),
        Ok(None) => lines.push(
            doctor_line(DoctorState::Warn, "base", "the default branch is unknown".to_owned())
                .with_hint("name the base branch: `referee review main..HEAD`"),
        ),
        Err(error) => lines.push(doctor_line(DoctorState::Fail, "base", error.to_string())),
    }
    if let Ok(true) = checkout.git.is_shallow() {
        let message = "the clone is shallow: older commits may be missing".to_owned();
        lines.push(doctor_line(DoctorState::Warn, "history", message).with_hint("run `git fetch --unshallow`"));
    }
    lines.push(doctor_line(
        DoctorState::Ok,
        "identity",
        format!("you are {}; reviews are written as referee", checkout.user),
    ));
    match checkout.forge.list_pulls() {
        Ok(pulls) => lines.push(doctor_line(
            DoctorState::Ok,
            "local",
            match pulls.len() {
                1 => "1 pull".to_owned(),
                count => format!("{count} pulls"),
            },
        )),
        Err(error) => lines.push(doctor_line(DoctorState::Fail, "local", error.to_string())),
    }
}

fn check_config(
    checkout: &LocalCheckout,
    options: &Options,
    out: &Console,
    lines: &mut Vec<DoctorLine>,
) -> Vec<(String, String, String)> {
    let base = match checkout.git.default_branch() {
        Ok(Some(name)) => checkout.git.resolve(&name).ok().flatten().map(|commit| BranchTip { name, commit }),
        _ => None,
    };
    let source = GitSource::from_checkout(checkout.git.clone());
    let config = match config_files::load(options, &source, base.as_ref(), Some(&checkout.user), out) {
        Ok(config) => config,
        Err(failure) => {
            let message = failure.render();
            lines.push(doctor_line(
                DoctorState::Fail,
                "config",
                message.trim_start_matches("error: ").trim_end().to_owned(),
            ));
            return Vec::new();
        }
    };
    let roles: Vec<String> =
        config.roles.iter().map(|role| format!("{} ({})", role.name, describe_reviewer(&role.reviewer))).collect();
    lines.push(doctor_line(
        DoctorState::Ok,
        "config",
        format!("roles {}; {} rounds", roles.join(", "), config.policy.rounds),
    ));
    for role in &config.roles {
        match &role.reviewer {
            ReviewerKind::Builtin => {}
            ReviewerKind::Command(name) => lines.push(check_command(&config, name)),
            ReviewerKind::Model(name) => lines.push(
                doctor_line(
                    DoctorState::Fail,
                    "models",
                    format!("role `{}` uses the model `{name}`, and this build runs no models", role.name),
                )
                .with_hint("set `builtin = true` or a `command` for the role"),
            ),
        }
    }
    workers::check_workers(&config, lines);
    if config.mark_keys.is_empty() {
        let hint =
            default_operator_path().map(|path| format!("set `[mark] keys` in `{}` to seal them", path.display()));
        let mut unsealed =
            doctor_line(DoctorState::Warn, "marks", "unsealed: everyone with write access could forge one".to_owned());
        unsealed.hint = hint;
        lines.push(unsealed);
    }
    config.origins.into_iter().map(|origin| (origin.key, origin.value, origin.origin)).collect()
}

fn describe_reviewer(reviewer: &ReviewerKind) -> String {
    match reviewer {
        ReviewerKind::Builtin => "built in".to_owned(),
        ReviewerKind::Command(name) => format!("command {name}"),
        ReviewerKind::Model(name) => format!("model {name}"),
    }
}

fn check_command(config: &ResolvedConfig, name: &str) -> DoctorLine {
    let Some(entry) = config.commands.get(name) else {
        return doctor_line(DoctorState::Fail, "commands", format!("`{name}` is not defined in the operator file"))
            .with_hint("define it there, or name another file with `--operator FILE`");
    };
    let program = entry.argv.first().map_or("", String::as_str);
    let is_installed = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
        || std::path::Path::new(program).is_absolute();
    if is_installed {
        doctor_line(DoctorState::Ok, "commands", format!("`{name}` runs `{}`", entry.argv.join(" ")))
    } else {
        doctor_line(DoctorState::Fail, "commands", format!("`{name}` runs `{program}`, which is not on the PATH"))
            .with_hint("install it, or correct its `argv` in the operator file")
    }
}

fn check_rules(lines: &mut Vec<DoctorLine>) {
    match reviewers::load_embedded_rules() {
        Ok(rules) => lines.push(doctor_line(DoctorState::Ok, "rules", format!("{} built in", rules.ids().len()))),
        Err(failure) => lines.push(doctor_line(DoctorState::Fail, "rules", failure.render())),
    }
}

fn failed_line(what: &'static str, failure: &Failure) -> DoctorLine {
    let text = failure.render();
    let text = text.trim_end().trim_start_matches("error: ");
    let (message, hint) = text.split_once("\n\nhint: ").map_or((text, None), |(message, hint)| (message, Some(hint)));
    DoctorLine { hint: hint.map(str::to_owned), ..doctor_line(DoctorState::Fail, what, message) }
}

fn doctor_line(state: DoctorState, what: &'static str, message: impl Into<String>) -> DoctorLine {
    DoctorLine { state, what, message: message.into(), hint: None }
}

impl DoctorLine {
    fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    fn render(&self) -> String {
        let (state, style) = match self.state {
            DoctorState::Ok => ("ok", AnsiColor::Green.on_default()),
            DoctorState::Warn => ("warn", AnsiColor::Yellow.on_default()),
            DoctorState::Fail => ("fail", AnsiColor::Red.on_default()),
            DoctorState::Unknown => ("unknown", Style::new()),
        };
        format!("{style}{state:<8}{style:#} {:<10} {}\n", self.what, self.message)
    }
}

//! `referee doctor`: what this machine, this repository, this config and this token can and cannot do.
//!
//! `--json` is `referee/doctor-1`: `lines` of `state` (`ok warn fail unknown`), `what`, `words` and perhaps `hint`; `values`
//! of `key`, `value`, `from`; and where a forge is chosen `forge` with its `server`, its `repo` and `lines` of its own.

mod forge;
mod sandbox;
mod workers;

use anstyle::{AnsiColor, Style};
use clap::Args;
use referee_forge::BranchTip;
use referee_git::CheckedOut;
use serde::Serialize;
use serde_json::json;

use crate::config::ReviewerKind;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::reviewers;
use crate::session::Options;
use crate::session::config_files::{self, default_operator_path};
use crate::session::local::LocalCheckout;
use crate::session::source::GitSource;
use crate::store::StoreAccess;

/// Say what this machine, this repository and this token can and cannot do
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Show where every value of the config comes from
    #[arg(long)]
    values: bool,
    /// Try whether what workers run in holds
    #[arg(long)]
    sandbox: bool,
    /// The tier that is tried [default: the highest that can be had]
    #[arg(long, value_name = "N", requires = "sandbox", conflicts_with = "values")]
    tier: Option<u8>,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum DoctorState {
    Ok,
    Warn,
    Fail,
    Unknown,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct DoctorLine {
    state: DoctorState,
    what: &'static str,
    words: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl DoctorArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        if self.sandbox {
            return sandbox::run_probes(self.tier, out);
        }
        let mut lines = Vec::new();
        let mut values = Vec::new();
        let forge = forge::inspect_forge(options).await;
        match LocalCheckout::open(options, StoreAccess::Read) {
            Ok(place) => {
                check_repository(&place, &mut lines);
                values = check_config(&place, options, out, &mut lines);
            }
            Err(_) if matches!(forge, Ok(Some(_))) => {
                lines.push(doctor_line(
                    DoctorState::Unknown,
                    "repository",
                    "there is no checkout here: only the forge was looked at",
                ));
            }
            Err(failure) => {
                lines
                    .push(failed_line("repository", &failure).with_hint("run it in a git repository, or use `-C DIR`"));
            }
        }
        check_rules(&mut lines);
        lines.push(doctor_line(DoctorState::Ok, "may not", "merge, close, dismiss or delete: there is no such call"));
        lines.push(doctor_line(DoctorState::Unknown, "models", "this build runs no models"));
        let forge = match forge {
            Ok(Some(forge)) => Some(forge),
            Ok(None) => {
                lines.push(doctor_line(DoctorState::Ok, "forge", "none: pulls are local ones"));
                None
            }
            Err(failure) => {
                lines.push(failed_line("forge", &failure));
                None
            }
        };
        let forge_lines = forge.as_ref().map_or(&[] as &[DoctorLine], |forge| &forge.lines);
        let all = || lines.iter().chain(forge_lines);
        let failed = all().any(|line| line.state == DoctorState::Fail);
        if out.json {
            let values: Vec<_> =
                values.iter().map(|(key, value, from)| json!({ "key": key, "value": value, "from": from })).collect();
            let mut document = json!({ "schema": "referee/doctor-1", "lines": lines, "values": values });
            if let Some(forge) = &forge {
                document["forge"] = json!(forge);
            }
            out.print_json(&document);
        } else {
            all().for_each(|line| out.print_data(&line.render()));
            if self.values {
                for (key, value, from) in &values {
                    out.print_data(&format!("value    {key} = {value} ({from})\n"));
                }
            }
        }
        for hint in all().filter(|line| line.state != DoctorState::Ok).filter_map(|line| line.hint.as_deref()) {
            out.print_info(&format!("hint: {hint}"));
        }
        out.print_info(if failed {
            "next: mend what fails"
        } else {
            "next: `referee review` reviews the current branch"
        });
        Ok(if failed { CliOutcome::Failed } else { CliOutcome::Done })
    }
}

fn check_repository(place: &LocalCheckout, lines: &mut Vec<DoctorLine>) {
    let head = match place.git.head() {
        Ok(CheckedOut::Branch { name, commit: Some(commit) }) => format!("on {name} at {}", commit.short()),
        Ok(CheckedOut::Branch { name, commit: None }) => format!("on {name}, without commits"),
        Ok(CheckedOut::Detached(commit)) => format!("detached at {}", commit.short()),
        Err(error) => return lines.push(doctor_line(DoctorState::Fail, "repository", error.to_string())),
    };
    lines.push(doctor_line(DoctorState::Ok, "repository", head));
    match place.git.default_branch() {
        Ok(Some(name)) => lines.push(doctor_line(DoctorState::Ok, "base", format!("{name} is the default branch"))),
        Ok(None) => lines.push(
            doctor_line(DoctorState::Warn, "base", "no default branch is known".to_owned())
                .with_hint("name the base: `referee review main..HEAD`"),
        ),
        Err(error) => lines.push(doctor_line(DoctorState::Fail, "base", error.to_string())),
    }
    if let Ok(true) = place.git.is_shallow() {
        let words = "the clone is shallow: older heads may be missing".to_owned();
        lines.push(doctor_line(DoctorState::Warn, "history", words).with_hint("`git fetch --unshallow`"));
    }
    lines.push(doctor_line(DoctorState::Ok, "identity", format!("you are {}, reviews are by referee", place.user)));
    match place.forge.list_pulls() {
        Ok(pulls) => lines.push(doctor_line(
            DoctorState::Ok,
            "local",
            match pulls.len() {
                1 => "1 pull known".to_owned(),
                n => format!("{n} pulls known"),
            },
        )),
        Err(error) => lines.push(doctor_line(DoctorState::Fail, "local", error.to_string())),
    }
}

fn check_config(
    place: &LocalCheckout,
    options: &Options,
    out: &Console,
    lines: &mut Vec<DoctorLine>,
) -> Vec<(String, String, String)> {
    let base = match place.git.default_branch() {
        Ok(Some(name)) => place.git.resolve(&name).ok().flatten().map(|commit| BranchTip { name, commit }),
        _ => None,
    };
    let source = GitSource::from_checkout(place.git.clone());
    let setup = match config_files::load(options, &source, base.as_ref(), Some(&place.user), out) {
        Ok(setup) => setup,
        Err(failure) => {
            let words = failure.render();
            lines.push(doctor_line(
                DoctorState::Fail,
                "config",
                words.trim_start_matches("error: ").trim_end().to_owned(),
            ));
            return Vec::new();
        }
    };
    let roles: Vec<String> =
        setup.roles.iter().map(|role| format!("{} ({})", role.name, describe_reviewer(&role.reviewer))).collect();
    lines.push(doctor_line(
        DoctorState::Ok,
        "config",
        format!("roles {}; {} rounds", roles.join(", "), setup.policy.rounds),
    ));
    for role in &setup.roles {
        match &role.reviewer {
            ReviewerKind::Builtin => {}
            ReviewerKind::Command(name) => lines.push(check_command(&setup, name)),
            ReviewerKind::Model(name) => lines.push(
                doctor_line(
                    DoctorState::Fail,
                    "models",
                    format!("role `{}` asks `{name}`; this build runs no models", role.name),
                )
                .with_hint("give the role `builtin = true` or a `command`"),
            ),
        }
    }
    workers::check_workers(&setup, lines);
    if setup.mark_keys.is_empty() {
        let hint = default_operator_path().map(|path| format!("`[mark] keys` in `{}` seals them", path.display()));
        let mut unsealed =
            doctor_line(DoctorState::Warn, "marks", "unsealed: whoever may write here could forge one".to_owned());
        unsealed.hint = hint;
        lines.push(unsealed);
    }
    setup.origins.into_iter().map(|origin| (origin.key, origin.value, origin.origin)).collect()
}

fn describe_reviewer(reviewer: &ReviewerKind) -> String {
    match reviewer {
        ReviewerKind::Builtin => "built in".to_owned(),
        ReviewerKind::Command(name) => format!("command {name}"),
        ReviewerKind::Model(name) => format!("model {name}"),
    }
}

fn check_command(setup: &crate::config::ResolvedConfig, name: &str) -> DoctorLine {
    let Some(entry) = setup.commands.get(name) else {
        return doctor_line(DoctorState::Fail, "commands", format!("`{name}` is in no operator file"))
            .with_hint("name the file with `--operator FILE`");
    };
    let program = entry.argv.first().map_or("", String::as_str);
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
        || std::path::Path::new(program).is_absolute();
    if found {
        doctor_line(DoctorState::Ok, "commands", format!("`{name}` runs `{}`", entry.argv.join(" ")))
    } else {
        doctor_line(DoctorState::Fail, "commands", format!("`{name}` runs `{program}`, which is not on the PATH"))
            .with_hint("install it, or mend the operator file")
    }
}

fn check_rules(lines: &mut Vec<DoctorLine>) {
    match reviewers::load_embedded_rules() {
        Ok(rules) => lines.push(doctor_line(DoctorState::Ok, "rules", format!("{} built in", rules.ids().len()))),
        Err(failure) => lines.push(doctor_line(DoctorState::Fail, "rules", failure.render())),
    }
}

fn failed_line(what: &'static str, failure: &Failure) -> DoctorLine {
    let words = failure.render();
    let words = words.trim_end().trim_start_matches("error: ");
    let (words, hint) = words.split_once("\n\nhint: ").map_or((words, None), |(words, hint)| (words, Some(hint)));
    DoctorLine { hint: hint.map(str::to_owned), ..doctor_line(DoctorState::Fail, what, words) }
}

fn doctor_line(state: DoctorState, what: &'static str, words: impl Into<String>) -> DoctorLine {
    DoctorLine { state, what, words: words.into(), hint: None }
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
        format!("{style}{state:<8}{style:#} {:<10} {}\n", self.what, self.words)
    }
}

//! `referee doctor`: what this machine, this repository, this config and this token can and cannot do.
//!
//! `--json` is `referee/doctor-1`: `lines` of `state` (`ok warn fail unknown`), `what`, `words` and perhaps `hint`; `values`
//! of `key`, `value`, `from`; and where a forge is chosen `forge` with its `server`, its `repo` and `lines` of its own.

mod forge;
#[cfg(target_os = "linux")]
mod sandbox;
mod workers;

use anstyle::{AnsiColor, Style};
use clap::Args;
use referee_git::Head;
use serde::Serialize;
use serde_json::json;

use super::Common;
use crate::config::Reviewer;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::place::Place;
use crate::reviewers;
use crate::setup::own_operator_file;
use crate::store::Access;

/// Say what this machine, this repository and this token can and cannot do
#[derive(Debug, Args)]
pub(super) struct Doctor {
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
enum State {
    Ok,
    Warn,
    Fail,
    Unknown,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Line {
    state: State,
    what: &'static str,
    words: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Doctor {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        if self.sandbox {
            #[cfg(target_os = "linux")]
            return sandbox::run(self.tier, out);
            #[cfg(not(target_os = "linux"))]
            return Err(Failure::usage("nothing was tried: workers run on Linux only"));
        }
        let mut lines = Vec::new();
        let mut values = Vec::new();
        let forge = forge::look(common);
        match Place::open(common, Access::Read) {
            Ok(place) => {
                repository(&place, &mut lines);
                values = config(&place, common, out, &mut lines);
            }
            Err(_) if matches!(forge, Ok(Some(_))) => {
                lines.push(line(
                    State::Unknown,
                    "repository",
                    "there is no checkout here: only the forge was looked at",
                ));
            }
            Err(failure) => {
                lines.push(failed("repository", &failure).with("run it in a git repository, or use `-C DIR`"));
            }
        }
        rules(&mut lines);
        lines.push(line(State::Ok, "may not", "merge, close, dismiss or delete: there is no such call"));
        lines.push(line(State::Unknown, "models", "this build runs no models"));
        let forge = match forge {
            Ok(Some(forge)) => Some(forge),
            Ok(None) => {
                lines.push(line(State::Ok, "forge", "none: pulls are local ones"));
                None
            }
            Err(failure) => {
                lines.push(failed("forge", &failure));
                None
            }
        };
        let forge_lines = forge.as_ref().map_or(&[] as &[Line], |forge| &forge.lines);
        let all = || lines.iter().chain(forge_lines);
        let failed = all().any(|line| line.state == State::Fail);
        if out.json {
            let values: Vec<_> =
                values.iter().map(|(key, value, from)| json!({ "key": key, "value": value, "from": from })).collect();
            let mut document = json!({ "schema": "referee/doctor-1", "lines": lines, "values": values });
            if let Some(forge) = &forge {
                document["forge"] = json!(forge);
            }
            out.document(&document);
        } else {
            all().for_each(|line| out.data(&line.print()));
            if self.values {
                for (key, value, from) in &values {
                    out.data(&format!("value    {key} = {value} ({from})\n"));
                }
            }
        }
        for hint in all().filter(|line| line.state != State::Ok).filter_map(|line| line.hint.as_deref()) {
            out.say(&format!("hint: {hint}"));
        }
        out.say(if failed { "next: mend what fails" } else { "next: `referee review` reviews the current branch" });
        Ok(if failed { Ending::Failed } else { Ending::Done })
    }
}

fn repository(place: &Place, lines: &mut Vec<Line>) {
    let head = match place.git.head() {
        Ok(Head::Branch { name, commit: Some(commit) }) => format!("on {name} at {}", commit.short()),
        Ok(Head::Branch { name, commit: None }) => format!("on {name}, without commits"),
        Ok(Head::Detached(commit)) => format!("detached at {}", commit.short()),
        Err(error) => return lines.push(line(State::Fail, "repository", error.to_string())),
    };
    lines.push(line(State::Ok, "repository", head));
    match place.git.default_branch() {
        Ok(Some(name)) => lines.push(line(State::Ok, "base", format!("{name} is the default branch"))),
        Ok(None) => lines.push(
            line(State::Warn, "base", "no default branch is known".to_owned())
                .with("name the base: `referee review main..HEAD`"),
        ),
        Err(error) => lines.push(line(State::Fail, "base", error.to_string())),
    }
    if let Ok(true) = place.git.is_shallow() {
        let words = "the clone is shallow: older heads may be missing".to_owned();
        lines.push(line(State::Warn, "history", words).with("`git fetch --unshallow`"));
    }
    lines.push(line(State::Ok, "identity", format!("you are {}, reviews are by referee", place.user)));
    match place.forge.pulls() {
        Ok(pulls) => lines.push(line(
            State::Ok,
            "local",
            match pulls.len() {
                1 => "1 pull known".to_owned(),
                n => format!("{n} pulls known"),
            },
        )),
        Err(error) => lines.push(line(State::Fail, "local", error.to_string())),
    }
}

fn config(place: &Place, common: &Common, out: &Out, lines: &mut Vec<Line>) -> Vec<(String, String, String)> {
    let base = match place.git.default_branch() {
        Ok(Some(name)) => place.git.resolve(&name).ok().flatten().map(|commit| (name, commit)),
        _ => None,
    };
    let setup = match place.setup_at(common, base.as_ref(), out) {
        Ok(setup) => setup,
        Err(failure) => {
            let words = failure.words();
            lines.push(line(State::Fail, "config", words.trim_start_matches("error: ").trim_end().to_owned()));
            return Vec::new();
        }
    };
    let roles: Vec<String> = setup.roles.iter().map(|role| format!("{} ({})", role.name, by(&role.reviewer))).collect();
    lines.push(line(State::Ok, "config", format!("roles {}; {} rounds", roles.join(", "), setup.policy.rounds)));
    for role in &setup.roles {
        match &role.reviewer {
            Reviewer::Builtin => {}
            Reviewer::Command(name) => lines.push(program(&setup, name)),
            Reviewer::Model(name) => lines.push(
                line(State::Fail, "models", format!("role `{}` asks `{name}`; this build runs no models", role.name))
                    .with("give the role `builtin = true` or a `command`"),
            ),
        }
    }
    workers::look(&setup, lines);
    if setup.mark_keys.is_empty() {
        let hint = own_operator_file().map(|path| format!("`[mark] keys` in `{}` seals them", path.display()));
        let mut unsealed = line(State::Warn, "marks", "unsealed: whoever may write here could forge one".to_owned());
        unsealed.hint = hint;
        lines.push(unsealed);
    }
    setup.origins.into_iter().map(|origin| (origin.key, origin.value, origin.from)).collect()
}

fn by(reviewer: &Reviewer) -> String {
    match reviewer {
        Reviewer::Builtin => "built in".to_owned(),
        Reviewer::Command(name) => format!("command {name}"),
        Reviewer::Model(name) => format!("model {name}"),
    }
}

fn program(setup: &crate::config::Setup, name: &str) -> Line {
    let Some(entry) = setup.commands.get(name) else {
        return line(State::Fail, "commands", format!("`{name}` is in no operator file"))
            .with("name the file with `--operator FILE`");
    };
    let program = entry.argv.first().map_or("", String::as_str);
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
        || std::path::Path::new(program).is_absolute();
    if found {
        line(State::Ok, "commands", format!("`{name}` runs `{}`", entry.argv.join(" ")))
    } else {
        line(State::Fail, "commands", format!("`{name}` runs `{program}`, which is not on the PATH"))
            .with("install it, or mend the operator file")
    }
}

fn rules(lines: &mut Vec<Line>) {
    match reviewers::embedded() {
        Ok(rules) => lines.push(line(State::Ok, "rules", format!("{} built in", rules.ids().len()))),
        Err(failure) => lines.push(line(State::Fail, "rules", failure.words())),
    }
}

fn failed(what: &'static str, failure: &Failure) -> Line {
    let words = failure.words();
    let words = words.trim_end().trim_start_matches("error: ");
    let (words, hint) = words.split_once("\n\nhint: ").map_or((words, None), |(words, hint)| (words, Some(hint)));
    Line { hint: hint.map(str::to_owned), ..line(State::Fail, what, words) }
}

fn line(state: State, what: &'static str, words: impl Into<String>) -> Line {
    Line { state, what, words: words.into(), hint: None }
}

impl Line {
    fn with(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    fn print(&self) -> String {
        let (state, style) = match self.state {
            State::Ok => ("ok", AnsiColor::Green.on_default()),
            State::Warn => ("warn", AnsiColor::Yellow.on_default()),
            State::Fail => ("fail", AnsiColor::Red.on_default()),
            State::Unknown => ("unknown", Style::new()),
        };
        format!("{style}{state:<8}{style:#} {:<10} {}\n", self.what, self.words)
    }
}

//! The environment of a reviewer's program: a short list of harmless variables, and those that the operator names.

use std::env;
use std::ffi::OsString;

use referee_core::model::Submission;

/// Variables that programs need to find their tools, caches and locale. None of them holds a credential.
const INHERITED_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "XDG_CACHE_HOME",
    // Windows cannot start programs without these.
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
];

const LOCALE_VARIABLES: [&str; 10] = [
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TIME",
];

/// Shorter values are not redacted: they would match ordinary text, and are no secrets.
const MIN_SECRET_BYTES: usize = 4;

/// The environment of a program.
pub(super) struct CommandEnvironment {
    pub(super) variables: Vec<(String, OsString)>,
    /// Values of the variables that the operator named; they are redacted from all texts.
    secret_values: Vec<String>,
}

impl CommandEnvironment {
    /// Takes the usual variables and the named ones from the environment of this process.
    pub(super) fn from_allowed(names: &[String]) -> Self {
        let usual = INHERITED_VARIABLES.iter().chain(&LOCALE_VARIABLES).map(|name| (*name).to_owned());
        let variables = usual.chain(names.iter().cloned()).filter_map(|name| {
            let value = env::var_os(&name)?;
            let value = if name == "PATH" { drop_relative_paths(value) } else { value };
            Some((name, value))
        });
        let values = names.iter().filter_map(|name| env::var(name).ok());
        let mut secret_values: Vec<String> = values.filter(|value| value.len() >= MIN_SECRET_BYTES).collect();
        // One value may be a prefix of another. The longer one is redacted first, so that no rest of it stays.
        secret_values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { variables: variables.collect(), secret_values }
    }

    /// Redacts the values of named variables from a report, because it will be posted.
    pub(super) fn redact_report(&self, mut report: Submission) -> Submission {
        let redact = |text: &mut String| *text = self.redact_text(text);
        [&mut report.reason, &mut report.summary].into_iter().for_each(redact);
        for finding in &mut report.findings {
            [&mut finding.title, &mut finding.body].into_iter().for_each(redact);
            // A redacted suggestion could still be applied with a click, so it is dropped.
            finding.suggestion.take_if(|text| self.redact_text(text) != *text);
        }
        for position in &mut report.positions {
            [&mut position.evidence, &mut position.reply].into_iter().for_each(redact);
        }
        report
    }

    /// Replaces the values of named variables with `***`.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.secret_values.iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), "***"))
    }
}

/// Drops relative folders from a `PATH`. They are in the reviewed checkout, which must not choose the program that runs.
fn drop_relative_paths(path: OsString) -> OsString {
    let absolute = env::split_paths(&path).filter(|folder| folder.is_absolute());
    env::join_paths(absolute).unwrap_or_default()
}

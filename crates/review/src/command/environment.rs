//! What a command may know of referee's surroundings: a short list, and what the operator names.

use std::env;
use std::ffi::OsString;

use referee_core::model::Submission;

/// What programs need to find themselves, their caches and the language of their user. Nothing that opens a door.
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
    // What Windows needs to start anything.
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

/// Shorter values would blot out half of a text, and keep nobody out.
const MIN_SECRET_BYTES: usize = 4;

/// The variables of a command.
pub(super) struct CommandEnvironment {
    pub(super) variables: Vec<(String, OsString)>,
    /// Values of those that were let through by name.
    secret_values: Vec<String>,
}

impl CommandEnvironment {
    /// The usual variables and the named ones, as far as they are set.
    pub(super) fn from_allowed(names: &[String]) -> Self {
        let usual = INHERITED_VARIABLES.iter().chain(&LOCALE_VARIABLES).map(|name| (*name).to_owned());
        let variables = usual.chain(names.iter().cloned()).filter_map(|name| {
            let value = env::var_os(&name)?;
            let value = if name == "PATH" { drop_relative_paths(value) } else { value };
            Some((name, value))
        });
        let values = names.iter().filter_map(|name| env::var(name).ok());
        let mut named: Vec<String> = values.filter(|value| value.len() >= MIN_SECRET_BYTES).collect();
        // One may begin like another: the longer one goes first, or its end would stay.
        named.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { variables: variables.collect(), secret_values: named }
    }

    /// A report without the values that the operator let through: it will be posted.
    pub(super) fn redact_report(&self, mut report: Submission) -> Submission {
        let redact = |text: &mut String| *text = self.redact_text(text);
        [&mut report.reason, &mut report.summary].into_iter().for_each(redact);
        for found in &mut report.findings {
            [&mut found.title, &mut found.body].into_iter().for_each(redact);
            // Half of a suggestion would still be taken over by a click.
            found.suggestion.take_if(|text| self.redact_text(text) != *text);
        }
        for stated in &mut report.positions {
            [&mut stated.evidence, &mut stated.reply].into_iter().for_each(redact);
        }
        report
    }

    /// A text without those values.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.secret_values.iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), "***"))
    }
}

/// A relative folder is one of the reviewed change, which must not choose the program.
fn drop_relative_paths(path: OsString) -> OsString {
    let absolute = env::split_paths(&path).filter(|folder| folder.is_absolute());
    env::join_paths(absolute).unwrap_or_default()
}

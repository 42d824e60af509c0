//! Writes data to stdout and messages to stderr, with the colours and the verbosity that the user asked for. Everything
//! that is printed is made safe here: secrets are masked, control characters are shown.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use referee_http::mask_url_credentials;
use serde::Serialize;

use crate::known_secrets;
use crate::printable::{escape_json, to_one_line, to_printable};

/// The output streams of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// Whether stdout gets one JSON document.
    pub(crate) json: bool,
    pub(crate) color: ColorChoice,
    pub(crate) verbosity: Verbosity,
    /// For screen readers: no redrawn lines, no tables.
    pub(crate) accessible: bool,
}

/// Which messages a run prints to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    Normal,
    /// Also details of how the result came about.
    Verbose,
}

impl Console {
    /// Prints text to stdout.
    pub(crate) fn print_data(&self, text: &str) {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.color);
        // A closed pipe, as in `referee … | head`, is not an error.
        let _ = stdout.write_all(make_safe(text).as_bytes());
    }

    /// Prints a line to stderr, unless `--quiet` is given. It stays one line, whatever untrusted text it contains.
    pub(crate) fn print_line(&self, line: &str) {
        self.print_info(&to_one_line(line));
    }

    /// Prints a JSON document to stdout.
    pub(crate) fn print_json(&self, value: &impl Serialize) {
        let document = serde_json::to_string_pretty(value).unwrap_or_default();
        let document = escape_json(&known_secrets::mask(&document));
        let _ = writeln!(io::stdout().lock(), "{document}");
    }

    /// Prints a message to stderr, unless `--quiet` is given.
    pub(crate) fn print_info(&self, message: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.print_always(message);
        }
    }

    /// Prints a message to stderr if `-v` is given.
    pub(crate) fn print_detail(&self, message: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.print_always(message);
        }
    }

    /// Prints a message to stderr, also with `--quiet`.
    pub(crate) fn print_always(&self, message: &str) {
        let mut stderr = AutoStream::new(io::stderr().lock(), self.color);
        let _ = writeln!(stderr, "{}", style_labels(make_safe(message).trim_end_matches('\n')));
    }

    /// Returns whether progress lines may be redrawn in place.
    pub(crate) fn can_redraw(&self) -> bool {
        self.verbosity >= Verbosity::Normal && !self.accessible && !self.json && io::stderr().is_terminal()
    }

    /// Returns whether stdout is printed in colour.
    pub(crate) fn has_colour(&self) -> bool {
        AutoStream::new(io::stdout(), self.color).current_choice() != ColorChoice::Never
    }
}

/// Masks secrets and shows control characters. Every text that is printed goes through here.
pub(crate) fn make_safe(text: &str) -> String {
    to_printable(&known_secrets::mask(text)).into_owned()
}

/// Prints clap's message: help and version to stdout, errors to stderr. It repeats arguments, which may contain a
/// password.
pub(crate) fn print_usage_message(message: &clap::Error) {
    let text = message.render().ansi().to_string();
    let text = make_safe(&mask_url_credentials(&text));
    let _ = match message.use_stderr() {
        true => AutoStream::auto(io::stderr().lock()).write_all(text.as_bytes()),
        false => AutoStream::auto(io::stdout().lock()).write_all(text.as_bytes()),
    };
}

/// The labels at the start of a line that are styled.
const LABEL_STYLES: &[(&str, Style)] = &[
    ("error:", AnsiColor::Red.on_default().bold()),
    ("warning:", AnsiColor::Yellow.on_default().bold()),
    ("hint:", AnsiColor::Cyan.on_default().bold()),
    ("verdict:", Style::new().bold()),
    ("next:", AnsiColor::Green.on_default().bold()),
];

/// Styles the label at the start of each line. The meaning never depends on colour alone.
fn style_labels(message: &str) -> String {
    let style_line = |line: &str| match LABEL_STYLES
        .iter()
        .find_map(|(label, style)| Some((label, style, line.strip_prefix(label)?)))
    {
        Some((label, style, rest)) => format!("{style}{label}{style:#}{rest}"),
        None => line.to_owned(),
    };
    message.lines().map(style_line).collect::<Vec<_>>().join("\n")
}

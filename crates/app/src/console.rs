//! Data to stdout, words to stderr, and how much of either.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// Where a run writes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    /// One document on stdout.
    pub(crate) json: bool,
    /// When to colour.
    pub(crate) color: ColorChoice,
    /// How many words.
    pub(crate) verbosity: Verbosity,
    /// No redrawing, no tables.
    pub(crate) accessible: bool,
}

/// How many words a run says on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Also what was looked at.
    Verbose,
}

impl Console {
    /// Data: text for people.
    pub(crate) fn print_data(&self, text: &str) {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.color);
        // A reader that went away is no error of ours.
        let _ = stdout.write_all(text.as_bytes());
    }

    /// Data: one document for programs.
    pub(crate) fn print_json(&self, value: &impl Serialize) {
        let mut stdout = io::stdout().lock();
        let _ = serde_json::to_writer_pretty(&mut stdout, value);
        let _ = stdout.write_all(b"\n");
    }

    /// Words, with a line feed at their end.
    pub(crate) fn print_info(&self, words: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.print_always(words);
        }
    }

    /// Words that only `-v` shows.
    pub(crate) fn print_detail(&self, words: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.print_always(words);
        }
    }

    /// Words that `--quiet` does not silence.
    pub(crate) fn print_always(&self, words: &str) {
        let mut stderr = AutoStream::new(io::stderr().lock(), self.color);
        let _ = writeln!(stderr, "{}", style_labels(words.trim_end_matches('\n')));
    }

    /// Whether progress is redrawn: a terminal that nobody reads aloud.
    pub(crate) fn can_redraw(&self) -> bool {
        self.verbosity >= Verbosity::Normal && !self.accessible && !self.json && io::stderr().is_terminal()
    }

    /// Whether stdout takes colour.
    pub(crate) fn has_colour(&self) -> bool {
        AutoStream::new(io::stdout(), self.color).current_choice() != ColorChoice::Never
    }
}

/// The labels that begin a line of words, and how they look.
const LABEL_STYLES: &[(&str, Style)] = &[
    ("error:", AnsiColor::Red.on_default().bold()),
    ("warning:", AnsiColor::Yellow.on_default().bold()),
    ("hint:", AnsiColor::Cyan.on_default().bold()),
    ("verdict:", Style::new().bold()),
    ("next:", AnsiColor::Green.on_default().bold()),
];

/// Labels stand out; where there is no colour, the words alone say the same.
fn style_labels(words: &str) -> String {
    let line = |line: &str| match LABEL_STYLES
        .iter()
        .find_map(|(label, style)| Some((label, style, line.strip_prefix(label)?)))
    {
        Some((label, style, rest)) => format!("{style}{label}{style:#}{rest}"),
        None => line.to_owned(),
    };
    words.lines().map(line).collect::<Vec<_>>().join("\n")
}

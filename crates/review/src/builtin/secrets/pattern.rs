//! A regular expression of a rule, compiled when it is first needed.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// What one pattern may take: `(a{999}){999}` is forty characters long and a gigabyte when compiled.
const MOST_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Compiles it now, for rules that nobody tested.
    pub(super) fn check(&self) -> Result<(), regex::Error> {
        compile(&self.source).map(|regex| {
            self.compiled.get_or_init(|| Some(regex));
        })
    }

    /// None is a pattern that does not compile, which [`check`](Self::check) told.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }

    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

/// The format's patterns count letters and digits in ASCII.
fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).unicode(false).size_limit(MOST_BYTES).dfa_size_limit(MOST_BYTES).build()
}

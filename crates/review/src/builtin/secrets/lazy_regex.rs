//! A regular expression of a rule, compiled when it is first needed.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// What one pattern may take: `(a{999}){999}` is forty characters long and a gigabyte when compiled.
const MAX_COMPILED_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct LazyRegex {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    pub(super) fn new(source: String) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Compiles it now, for rules that nobody tested.
    pub(super) fn compile_now(&self) -> Result<(), regex::Error> {
        compile_regex(&self.source).map(|regex| {
            self.compiled.get_or_init(|| Some(regex));
        })
    }

    /// None is a pattern that does not compile, which [`check`](Self::check) told.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile_regex(&self.source).ok()).as_ref()
    }

    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

/// The format's patterns count letters and digits in ASCII.
fn compile_regex(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).unicode(false).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build()
}

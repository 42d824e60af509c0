//! A regular expression that is compiled when it is first needed.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The size limit of a compiled pattern: `(a{999}){999}` would take a gigabyte.
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

    /// Compiles the pattern now, and returns the error of one that does not compile.
    pub(super) fn compile_now(&self) -> Result<(), regex::Error> {
        compile_regex(&self.source).map(|regex| {
            self.compiled.get_or_init(|| Some(regex));
        })
    }

    /// Returns `None` if the pattern does not compile; [`Self::compile_now`] returns the reason.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile_regex(&self.source).ok()).as_ref()
    }

    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

/// Compiles a pattern. Character classes are ASCII, as in gitleaks.
fn compile_regex(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).unicode(false).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build()
}

//! The concerns of reviewers, each in several wordings.

use std::collections::BTreeSet;

pub(crate) struct Concern {
    pub(crate) rule: &'static str,
    pub(crate) title: &'static str,
    /// Nearly the same wording.
    pub(crate) close: &'static str,
    /// Another wording, with fewer than half of the words in common.
    pub(crate) reworded: &'static str,
}

const fn concern(rule: &'static str, title: &'static str, close: &'static str, reworded: &'static str) -> Concern {
    Concern { rule, title, close, reworded }
}

pub(crate) const CONCERNS: &[Concern] = &[
    concern(
        "sql-injection",
        "SQL query is built from user input",
        "SQL query built from raw user input",
        "Attacker-controlled text reaches the database statement",
    ),
    concern(
        "secret-log",
        "Refresh token is written to the log",
        "Refresh token written to the debug log",
        "Credentials leak through tracing output",
    ),
    concern(
        "unbounded-read",
        "Response body is read without a size limit",
        "Response body read without any limit",
        "A hostile server can exhaust memory here",
    ),
    concern(
        "missing-timeout",
        "Request has no timeout",
        "This request has no timeout set",
        "Call may hang forever when the peer stalls",
    ),
    concern(
        "unwrap-panic",
        "Unwrap panics on malformed input",
        "Unwrap may panic on malformed input",
        "Bad data crashes the whole process",
    ),
    concern(
        "race",
        "Check and use of the file are not atomic",
        "Check and use of this file not atomic",
        "Another process can swap the path in between",
    ),
    concern(
        "overflow",
        "Length computation can overflow",
        "Computation of the length can overflow",
        "Arithmetic wraps around for huge sizes",
    ),
    concern(
        "off-by-one",
        "Loop reads one element past the end",
        "Loop may read an element past the end",
        "Upper bound is inclusive but should not be",
    ),
    concern("swallowed-error", "Error is ignored", "The error here is ignored", "Failure goes unnoticed by callers"),
    concern(
        "lock-order",
        "Locks are taken in the opposite order",
        "Locks taken in opposite order here",
        "Deadlock possible with the writer thread",
    ),
    concern(
        "path-traversal",
        "File name may escape the upload folder",
        "File name can escape upload folder",
        "Dot-dot segments allow arbitrary writes",
    ),
    concern(
        "weak-hash",
        "Password is hashed with MD5",
        "Password hashed with plain MD5",
        "Broken digest algorithm protects logins",
    ),
    concern(
        "n-plus-one",
        "One query per item in the loop",
        "One query for each item in loop",
        "Database round trips grow linearly with rows",
    ),
    concern(
        "clone",
        "Needless clone of a large buffer",
        "Needless clone of the buffer",
        "Copying this vector costs time for nothing",
    ),
    concern(
        "blocking-async",
        "Blocking call inside async function",
        "Blocking call in an async function",
        "Executor thread stalls while disk is accessed",
    ),
    concern(
        "no-retry",
        "Transient failures are not retried",
        "Transient failure is not retried",
        "A single dropped packet aborts the upload",
    ),
    concern(
        "utf8",
        "Slicing may split a character",
        "Slicing can split a character",
        "Multi-byte text breaks at this index",
    ),
    concern("float-money", "Money is kept in a float", "Money kept as a float", "Rounding errors accumulate in totals"),
    concern(
        "time-zone",
        "Local time is compared with UTC",
        "Local time compared with UTC",
        "Daylight saving shifts make this wrong",
    ),
    concern(
        "dead-code",
        "Branch can never be reached",
        "This branch can never be reached",
        "Condition is always false after the guard above",
    ),
    concern(
        "naming",
        "Name does not say what it returns",
        "Name does not say what is returned",
        "Misleading identifier confuses readers",
    ),
    concern("missing-test", "New behaviour has no test", "The new behaviour has no test", "Nothing verifies this case"),
    concern(
        "csrf",
        "Form lacks a CSRF token",
        "This form lacks a CSRF token",
        "Cross-site requests are accepted unchecked",
    ),
    concern(
        "privilege",
        "Permission is checked after the write",
        "Permission checked after write",
        "Unauthorised users can already modify data",
    ),
];

/// Returns the percentage of words that two titles share, computed independently of the tracker.
pub(crate) fn shared_words(one: &str, other: &str) -> usize {
    let words = |title: &str| -> BTreeSet<String> {
        title
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    100 * one.intersection(&other).count() / one.len().min(other.len()).max(1)
}

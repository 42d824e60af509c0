//! Fingerprints of findings.

use super::Fingerprint;
use super::code_lines::{normalise_code, truncate_hash};
use super::title::normalise_title;
use crate::hash::Hash;

impl Fingerprint {
    /// Computes the fingerprint from role, concern and code, without path and line.
    ///
    /// The concern is `rule`, or the normalised `title` if there is no rule. `code` is the text of the anchored lines.
    /// Equal fingerprints are a strong hint, not proof: duplicated code gives two findings with the same fingerprint.
    /// [`match_findings`](super::match_findings) distinguishes them.
    pub fn from_finding(role: &str, rule: Option<&str>, title: &str, code: &str) -> Self {
        let (kind, concern) = match rule {
            Some(rule) => ("rule", rule.to_owned()),
            None => ("title", normalise_title(title)),
        };
        Fingerprint(truncate_hash(Hash::digest_parts([role, kind, &concern, &normalise_code(code)])))
    }
}

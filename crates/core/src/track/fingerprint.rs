//! A finding's name that survives everything but another concern and another code.

use super::Fingerprint;
use super::code_lines::{normalise_code, truncate_hash};
use super::title::normalise_title;
use crate::hash::Hash;

impl Fingerprint {
    /// Names a finding of `role` by its concern and its code; never by a path or a line.
    ///
    /// The concern is `rule`, or the normalised `title` where the reviewer gives no rule; `code` is the text of the
    /// anchored lines. Equal fingerprints are a strong hint, not an identity: code that stands twice in a file gives two
    /// findings with one fingerprint, and [`assign`](super::assign()) tells them apart.
    pub fn from_finding(role: &str, rule: Option<&str>, title: &str, code: &str) -> Self {
        let (kind, concern) = match rule {
            Some(rule) => ("rule", rule.to_owned()),
            None => ("title", normalise_title(title)),
        };
        Fingerprint(truncate_hash(Hash::digest_parts([role, kind, &concern, &normalise_code(code)])))
    }
}

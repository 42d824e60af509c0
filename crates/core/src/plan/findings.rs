//! The findings listed in a plan. Every plan has them, and few are ever printed, so all their texts share one string:
//! two allocations per plan instead of four per finding.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{FindingDetail, FindingId, FindingState, Severity, StoredDetail};

/// The state of a finding, for people and for `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingLine<'a> {
    pub id: FindingId,
    pub role: &'a str,
    pub severity: Severity,
    pub path: &'a str,
    /// `None` for a finding on a whole file.
    pub line: Option<u32>,
    /// The whole title, in a line. Untrusted text.
    pub title: &'a str,
    /// The rule that found it.
    pub rule: Option<&'a str>,
    /// Body, range, column and help page.
    #[serde(flatten)]
    pub detail: FindingDetail<'a>,
    /// Its identity, independent of its line.
    pub fingerprint: &'a str,
    pub state: FindingState,
    /// It still counts against the pull.
    pub counts: bool,
    pub thread: Option<&'a str>,
}

/// The findings of a plan, in the order of its roles.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The texts of each finding, concatenated.
    texts: String,
    lines: Vec<PackedFinding>,
}

/// A finding whose texts are given by their end offsets in `texts`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedFinding {
    id: FindingId,
    severity: Severity,
    line: Option<u32>,
    end_line: Option<u32>,
    column: Option<u32>,
    state: FindingState,
    counts: bool,
    /// Which of the optional texts exist: rule, help, thread.
    present: [bool; 3],
    start: usize,
    /// Ends of role, path, title, body, fingerprint, rule, help and thread.
    ends: [usize; TEXT_COUNT],
}

const TEXT_COUNT: usize = 8;

/// Typical size of a finding's texts, for the initial capacity.
const TYPICAL_FINDING_BYTES: usize = 128;

impl Findings {
    /// Creates an empty list with room for `lines` findings.
    pub fn with_capacity(lines: usize) -> Self {
        Self {
            texts: String::with_capacity(lines.saturating_mul(TYPICAL_FINDING_BYTES)),
            lines: Vec::with_capacity(lines),
        }
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = FindingLine<'_>> {
        self.lines.iter().map(|packed| self.unpack(packed))
    }

    pub fn first(&self) -> Option<FindingLine<'_>> {
        self.iter().next()
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn unpack(&self, packed: &PackedFinding) -> FindingLine<'_> {
        let PackedFinding { id, severity, line, end_line, column, state, counts, present, start, ends } = *packed;
        let mut from = start;
        let [role, path, title, body, fingerprint, rule, help, thread] = ends.map(|end| {
            let text = self.texts.get(from..end).unwrap_or_default();
            from = end;
            text
        });
        let [has_rule, has_help, has_thread] = present;
        FindingLine {
            id,
            role,
            severity,
            path,
            line,
            title,
            rule: has_rule.then_some(rule),
            detail: FindingDetail { body, end_line, column, help: has_help.then_some(help) },
            fingerprint,
            state,
            counts,
            thread: has_thread.then_some(thread),
        }
    }

    fn push(&mut self, it: FindingLine<'_>) {
        let start = self.texts.len();
        let FindingDetail { body, end_line, column, help } = it.detail;
        let optional = [it.rule, help, it.thread];
        let [rule, help, thread] = optional.map(Option::unwrap_or_default);
        let ends = [it.role, it.path, it.title, body, it.fingerprint, rule, help, thread].map(|text| {
            self.texts.push_str(text);
            self.texts.len()
        });
        self.lines.push(PackedFinding {
            id: it.id,
            severity: it.severity,
            line: it.line,
            end_line,
            column,
            state: it.state,
            counts: it.counts,
            present: optional.map(|text| text.is_some()),
            start,
            ends,
        });
    }
}

impl<'a> Extend<FindingLine<'a>> for Findings {
    fn extend<T: IntoIterator<Item = FindingLine<'a>>>(&mut self, lines: T) {
        lines.into_iter().for_each(|line| self.push(line));
    }
}

impl<'a> FromIterator<FindingLine<'a>> for Findings {
    fn from_iter<T: IntoIterator<Item = FindingLine<'a>>>(lines: T) -> Self {
        let lines = lines.into_iter();
        let mut findings = Self::with_capacity(lines.size_hint().0);
        findings.extend(lines);
        findings
    }
}

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Findings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lines = Vec::<OwnedFinding>::deserialize(deserializer)?;
        Ok(lines.iter().map(OwnedFinding::as_finding_line).collect())
    }
}

impl JsonSchema for Findings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Findings".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<FindingLine<'static>>>::json_schema(generator)
    }
}

/// A finding as it is deserialised: its texts cannot be borrowed, because JSON may escape them.
#[derive(Deserialize)]
struct OwnedFinding {
    id: FindingId,
    role: String,
    severity: Severity,
    path: String,
    line: Option<u32>,
    title: String,
    #[serde(default)]
    rule: Option<String>,
    #[serde(flatten)]
    detail: StoredDetail,
    #[serde(default)]
    fingerprint: String,
    state: FindingState,
    counts: bool,
    thread: Option<String>,
}

impl OwnedFinding {
    fn as_finding_line(&self) -> FindingLine<'_> {
        FindingLine {
            id: self.id,
            role: &self.role,
            severity: self.severity,
            path: &self.path,
            line: self.line,
            title: &self.title,
            rule: self.rule.as_deref(),
            detail: self.detail.as_detail(),
            fingerprint: &self.fingerprint,
            state: self.state,
            counts: self.counts,
            thread: self.thread.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FindingLine, Findings};
    use crate::model::{FindingDetail, FindingId, FindingState, Severity};

    #[test]
    fn lines_come_out_as_they_went_in_and_are_written_as_a_list() {
        let threaded = FindingLine {
            id: FindingId(4),
            role: "security",
            severity: Severity::Critical,
            path: "src/\"ü\".rs",
            line: Some(88),
            title: "Token is logged",
            rule: Some("secret-log"),
            detail: FindingDetail {
                body: "It ends in the log.",
                end_line: None,
                column: Some(5),
                help: Some("https://x"),
            },
            fingerprint: "f00",
            state: FindingState::Open,
            counts: true,
            thread: Some("12"),
        };
        let bare = FindingLine {
            id: FindingId(5),
            role: "",
            path: "",
            line: None,
            title: "",
            rule: None,
            thread: None,
            ..threaded
        };
        let findings = Findings::from_iter([threaded, bare, threaded]);
        assert_eq!(findings.iter().collect::<Vec<_>>(), [threaded, bare, threaded]);
        let json = serde_json::to_value(&findings).expect("a list");
        assert_eq!(json[0]["path"], "src/\"ü\".rs");
        assert_eq!(serde_json::from_value::<Findings>(json).expect("the same list"), findings);
    }
}

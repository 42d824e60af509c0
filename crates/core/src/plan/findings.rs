//! The findings listed in a plan. Every plan has them, and few are ever printed, so all their texts share one string:
//! two allocations per plan instead of four per finding.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{FindingId, FindingState, Severity};

/// The state of a finding, for people and for `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingLine<'a> {
    pub id: FindingId,
    pub role: &'a str,
    pub severity: Severity,
    pub path: &'a str,
    /// `None` for a finding on a whole file.
    pub line: Option<u32>,
    pub title: &'a str,
    pub state: FindingState,
    /// It still counts against the pull.
    pub counts: bool,
    pub thread: Option<&'a str>,
}

/// The findings of a plan, in the order of its roles.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Role, path, title and thread of each finding, concatenated.
    texts: String,
    lines: Vec<PackedFinding>,
}

/// A finding whose texts are given by their end offsets in `texts`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedFinding {
    id: FindingId,
    severity: Severity,
    line: Option<u32>,
    state: FindingState,
    counts: bool,
    has_thread: bool,
    start: usize,
    role_end: usize,
    path_end: usize,
    title_end: usize,
    thread_end: usize,
}

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
        let PackedFinding {
            id,
            severity,
            line,
            state,
            counts,
            has_thread: threaded,
            start,
            role_end: role,
            path_end: path,
            title_end: title,
            thread_end: thread,
        } = *packed;
        let text = |from: usize, to: usize| self.texts.get(from..to).unwrap_or_default();
        FindingLine {
            id,
            role: text(start, role),
            severity,
            path: text(role, path),
            line,
            title: text(path, title),
            state,
            counts,
            thread: threaded.then(|| text(title, thread)),
        }
    }

    fn push(&mut self, it: FindingLine<'_>) {
        let start = self.texts.len();
        let mut end_of = |text: &str| {
            self.texts.push_str(text);
            self.texts.len()
        };
        self.lines.push(PackedFinding {
            id: it.id,
            severity: it.severity,
            line: it.line,
            state: it.state,
            counts: it.counts,
            has_thread: it.thread.is_some(),
            start,
            role_end: end_of(it.role),
            path_end: end_of(it.path),
            title_end: end_of(it.title),
            thread_end: end_of(it.thread.unwrap_or_default()),
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
            state: self.state,
            counts: self.counts,
            thread: self.thread.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FindingLine, Findings};
    use crate::model::{FindingId, FindingState, Severity};

    #[test]
    fn lines_come_out_as_they_went_in_and_are_written_as_a_list() {
        let threaded = FindingLine {
            id: FindingId(4),
            role: "security",
            severity: Severity::Critical,
            path: "src/\"ü\".rs",
            line: Some(88),
            title: "Token is logged",
            state: FindingState::Open,
            counts: true,
            thread: Some("12"),
        };
        let bare =
            FindingLine { id: FindingId(5), role: "", path: "", line: None, title: "", thread: None, ..threaded };
        let findings = Findings::from_iter([threaded, bare, threaded]);
        assert_eq!(findings.iter().collect::<Vec<_>>(), [threaded, bare, threaded]);
        let json = serde_json::to_value(&findings).expect("a list");
        assert_eq!(json[0]["path"], "src/\"ü\".rs");
        assert_eq!(serde_json::from_value::<Findings>(json).expect("the same list"), findings);
    }
}

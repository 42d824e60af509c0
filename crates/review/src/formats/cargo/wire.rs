//! The part of cargo's messages and rustc's diagnostics that a review needs.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "reason")]
pub(super) enum Message {
    #[serde(rename = "compiler-message")]
    Diagnostic {
        message: Diagnostic,
        #[serde(default)]
        manifest_path: String,
    },
    #[serde(rename = "build-finished")]
    Finished { success: bool },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Diagnostic {
    pub(super) message: String,
    pub(super) level: String,
    #[serde(default)]
    pub(super) code: Option<DiagnosticCode>,
    #[serde(default)]
    pub(super) spans: Vec<Span>,
    #[serde(default)]
    pub(super) children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
pub(super) struct DiagnosticCode {
    pub(super) code: String,
}

#[derive(Deserialize)]
pub(super) struct Span {
    pub(super) file_name: String,
    pub(super) line_start: u32,
    pub(super) line_end: u32,
    pub(super) column_start: usize,
    pub(super) column_end: usize,
    pub(super) is_primary: bool,
    #[serde(default)]
    pub(super) label: Option<String>,
    #[serde(default)]
    pub(super) text: Vec<SourceLine>,
    #[serde(default)]
    pub(super) suggested_replacement: Option<String>,
    #[serde(default, rename = "suggestion_applicability")]
    pub(super) applicability: Option<String>,
    #[serde(default)]
    pub(super) expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
pub(super) struct SourceLine {
    text: String,
}

#[derive(Deserialize)]
pub(super) struct Expansion {
    pub(super) span: Span,
}

impl Span {
    /// Applies edits, in ascending order, to the lines of the span. Returns `None` if an edit is outside of them or overlaps
    /// another, or if nothing is left.
    pub(super) fn apply_edits(&self, edits: &[&Span]) -> Option<String> {
        let text = self.text.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
        if self.text.len() != (self.line_end.checked_sub(self.line_start)? as usize) + 1 {
            return None;
        }
        let mut out = String::new();
        let mut done = 0;
        for edit in edits {
            let from = self.byte_offset(edit.line_start, edit.column_start)?;
            let to = self.byte_offset(edit.line_end, edit.column_end)?;
            out.push_str(text.get(done..from)?);
            text.get(from..to)?;
            out.push_str(edit.suggested_replacement.as_deref()?);
            done = to;
        }
        out.push_str(text.get(done..)?);
        (!out.trim().is_empty()).then_some(out)
    }

    /// Returns the offset of a line and column in the joined lines. Columns count characters from 1.
    fn byte_offset(&self, line: u32, column: usize) -> Option<usize> {
        let at = line.checked_sub(self.line_start)? as usize;
        let source = &self.text.get(at)?.text;
        let before: usize = self.text.iter().take(at).map(|line| line.text.len() + 1).sum();
        let mut ends = source.char_indices().map(|(offset, _)| offset).chain([source.len()]);
        Some(before + ends.nth(column.checked_sub(1)?)?)
    }
}

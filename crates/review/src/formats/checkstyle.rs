//! Checkstyle's XML. Entities that XML does not define itself are never expanded: they stay as they are written.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use referee_core::model::{Severity, Submission};

use super::report_builder::{ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext};

const ROOT_ELEMENT: &[u8] = b"checkstyle";

pub(super) fn parse_checkstyle(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut reading = CheckstyleParser {
        report: ToolReportBuilder::new(origin),
        file: String::new(),
        depth: 0,
        root: RootState::NotOpened,
    };
    loop {
        let event = reader.read_event();
        // From here on it is a checkstyle report, and what was read of it is kept.
        match event {
            Ok(Event::Eof) => break,
            Ok(event) => reading.handle_event(event)?,
            Err(error) if reading.root == RootState::NotOpened => return Err(syntax_error(error.to_string())),
            Err(error) => {
                reading.report.add_gap(format!("the XML breaks off at byte {}: {error}", reader.error_position()));
                break;
            }
        }
    }
    match reading.root {
        RootState::NotOpened => Err(syntax_error("there is no `<checkstyle>`".to_owned())),
        RootState::Open => {
            reading.report.add_gap("the XML is not closed");
            Ok(reading.report.finish())
        }
        RootState::Closed => Ok(reading.report.finish()),
    }
}

struct CheckstyleParser<'a> {
    report: ToolReportBuilder<'a>,
    file: String,
    depth: usize,
    root: RootState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RootState {
    NotOpened,
    Open,
    Closed,
}

impl CheckstyleParser<'_> {
    fn handle_event(&mut self, event: Event<'_>) -> Result<(), FormatError> {
        match event {
            Event::Start(tag) => {
                self.open_element(&tag)?;
                self.depth += 1;
            }
            Event::Empty(tag) => {
                self.open_element(&tag)?;
                self.close_element();
            }
            Event::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                self.close_element();
            }
            Event::Text(text) if self.depth == 0 && !text.trim_ascii().is_empty() => self.reject_outside_root()?,
            _ => {}
        }
        Ok(())
    }

    fn open_element(&mut self, tag: &BytesStart<'_>) -> Result<(), FormatError> {
        match (self.root, tag.name().as_ref()) {
            (RootState::NotOpened, ROOT_ELEMENT) => self.root = RootState::Open,
            (RootState::NotOpened | RootState::Closed, _) => self.reject_outside_root()?,
            (RootState::Open, b"file") => self.file = self.read_attributes(tag).remove("name").unwrap_or_default(),
            (RootState::Open, b"error") => {
                let said = self.read_attributes(tag);
                self.add_error(said);
            }
            (RootState::Open, _) => {}
        }
        Ok(())
    }

    fn close_element(&mut self) {
        if self.depth == 0 && self.root == RootState::Open {
            self.root = RootState::Closed;
        }
    }

    /// Something beside the one root: before it, this is another format; behind it, two outputs ran together.
    fn reject_outside_root(&mut self) -> Result<(), FormatError> {
        if self.root == RootState::NotOpened {
            return Err(syntax_error("it does not begin with `<checkstyle>`".to_owned()));
        }
        self.report.add_gap("there is more behind the end of the XML");
        Ok(())
    }

    fn read_attributes(&mut self, tag: &BytesStart<'_>) -> HashMap<String, String> {
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut pairs = HashMap::new();
        for attribute in tag.attributes().with_checks(false) {
            let Ok(attribute) = attribute else {
                self.report.add_gap("the attributes of an element cannot be read");
                break;
            };
            let written = plain(&attribute.value);
            let value = unescape(&written).map(|value| value.into_owned());
            pairs.insert(plain(attribute.key.as_ref()), value.unwrap_or(written));
        }
        pairs
    }

    fn add_error(&mut self, mut said: HashMap<String, String>) {
        let severity = match said.get("severity").map(String::as_str) {
            Some("warning") => Severity::Warning,
            Some("info") => Severity::Suggestion,
            Some("ignore") => return,
            // Checkstyle's own default.
            _ => Severity::Critical,
        };
        let line = said.get("line").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        self.report.add_message(ToolMessage {
            message: said.remove("message").unwrap_or_default(),
            severity,
            location: self.report.locate(&self.file),
            line,
            end_line: None,
            rule: said.remove("source").filter(|rule| !rule.is_empty()),
            suggestion: None,
        });
    }
}

fn syntax_error(what: String) -> FormatError {
    FormatError::Syntax { format: Format::Checkstyle, what }
}

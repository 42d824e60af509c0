//! The XML of Checkstyle. Only the predefined entities of XML are expanded; entities of the document stay as written, so
//! that it can neither read files nor grow without limit.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use referee_core::model::{Severity, Submission};

use super::report_builder::{ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext};

const ROOT_ELEMENT: &[u8] = b"checkstyle";

pub(super) fn parse_checkstyle(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut parser = CheckstyleParser {
        report: ToolReportBuilder::new(context),
        file: String::new(),
        depth: 0,
        root: RootState::NotOpened,
    };
    loop {
        let event = reader.read_event();
        // An error after the root element keeps what was parsed so far.
        match event {
            Ok(Event::Eof) => break,
            Ok(event) => parser.handle_event(event)?,
            Err(error) if parser.root == RootState::NotOpened => return Err(syntax_error(error.to_string())),
            Err(error) => {
                parser.report.add_gap(format!("the XML is broken at byte {}: {error}", reader.error_position()));
                break;
            }
        }
    }
    match parser.root {
        RootState::NotOpened => Err(syntax_error("there is no `<checkstyle>` element".to_owned())),
        RootState::Open => {
            parser.report.add_gap("the XML is not closed");
            Ok(parser.report.finish())
        }
        RootState::Closed => Ok(parser.report.finish()),
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
                let attributes = self.read_attributes(tag);
                self.add_error(attributes);
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

    /// Handles content outside the root element. Before the root, this is another format; after it, two outputs were
    /// concatenated.
    fn reject_outside_root(&mut self) -> Result<(), FormatError> {
        if self.root == RootState::NotOpened {
            return Err(syntax_error("the root element is not `<checkstyle>`".to_owned()));
        }
        self.report.add_gap("there is content after the end of the XML");
        Ok(())
    }

    fn read_attributes(&mut self, tag: &BytesStart<'_>) -> HashMap<String, String> {
        let decode = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut attributes = HashMap::new();
        for attribute in tag.attributes().with_checks(false) {
            let Ok(attribute) = attribute else {
                self.report.add_gap("the attributes of an element cannot be parsed");
                break;
            };
            let raw = decode(&attribute.value);
            let value = unescape(&raw).map(|value| value.into_owned());
            attributes.insert(decode(attribute.key.as_ref()), value.unwrap_or(raw));
        }
        attributes
    }

    fn add_error(&mut self, mut attributes: HashMap<String, String>) {
        let level = attributes.remove("severity").unwrap_or_else(|| "error".to_owned());
        let severity = match level.as_str() {
            "info" => Severity::Suggestion,
            "ignore" => return self.report.count_off(),
            // `warning`, and `error`, which is the default of Checkstyle (D37).
            _ => Severity::Warning,
        };
        let column = attributes.get("column").and_then(|column| column.parse().ok()).filter(|column| *column > 0);
        let line = attributes.get("line").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        self.report.add_message(ToolMessage {
            message: attributes.remove("message").unwrap_or_default(),
            level: Some(level),
            severity,
            location: self.report.locate(&self.file),
            line,
            end_line: None,
            column,
            rule: attributes.remove("source").filter(|rule| !rule.is_empty()),
            help: None,
            suggestion: None,
        });
    }
}

fn syntax_error(what: String) -> FormatError {
    FormatError::Syntax { format: Format::Checkstyle, what }
}

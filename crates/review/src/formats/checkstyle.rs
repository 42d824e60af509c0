//! Checkstyle's XML. Entities that XML does not define itself are never expanded: they stay as they are written.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use referee_core::model::{Severity, Submission};

use super::draft::{Draft, Said};
use super::{Format, FormatError, Origin};

const ROOT: &[u8] = b"checkstyle";

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let mut reader = Reader::from_str(text);
    let mut reading = Reading { draft: Draft::new(origin), file: String::new(), depth: 0, root: Root::Before };
    loop {
        let event = reader.read_event();
        // From here on it is a checkstyle report, and what was read of it is kept.
        match event {
            Ok(Event::Eof) => break,
            Ok(event) => reading.take(event)?,
            Err(error) if reading.root == Root::Before => return Err(no_checkstyle(error.to_string())),
            Err(error) => {
                reading.draft.gap(format!("the XML breaks off at byte {}: {error}", reader.error_position()));
                break;
            }
        }
    }
    match reading.root {
        Root::Before => Err(no_checkstyle("there is no `<checkstyle>`".to_owned())),
        Root::Open => {
            reading.draft.gap("the XML is not closed");
            Ok(reading.draft.finish())
        }
        Root::Closed => Ok(reading.draft.finish()),
    }
}

struct Reading<'a> {
    draft: Draft<'a>,
    file: String,
    depth: usize,
    root: Root,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Before,
    Open,
    Closed,
}

impl Reading<'_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), FormatError> {
        match event {
            Event::Start(tag) => {
                self.open(&tag)?;
                self.depth += 1;
            }
            Event::Empty(tag) => {
                self.open(&tag)?;
                self.close();
            }
            Event::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                self.close();
            }
            Event::Text(text) if self.depth == 0 && !text.trim_ascii().is_empty() => self.stranger()?,
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), FormatError> {
        match (self.root, tag.name().as_ref()) {
            (Root::Before, ROOT) => self.root = Root::Open,
            (Root::Before | Root::Closed, _) => self.stranger()?,
            (Root::Open, b"file") => self.file = self.attributes(tag).remove("name").unwrap_or_default(),
            (Root::Open, b"error") => {
                let said = self.attributes(tag);
                self.error(said);
            }
            (Root::Open, _) => {}
        }
        Ok(())
    }

    fn close(&mut self) {
        if self.depth == 0 && self.root == Root::Open {
            self.root = Root::Closed;
        }
    }

    /// Something beside the one root: before it, this is another format; behind it, two outputs ran together.
    fn stranger(&mut self) -> Result<(), FormatError> {
        if self.root == Root::Before {
            return Err(no_checkstyle("it does not begin with `<checkstyle>`".to_owned()));
        }
        self.draft.gap("there is more behind the end of the XML");
        Ok(())
    }

    fn attributes(&mut self, tag: &BytesStart<'_>) -> HashMap<String, String> {
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut pairs = HashMap::new();
        for attribute in tag.attributes().with_checks(false) {
            let Ok(attribute) = attribute else {
                self.draft.gap("the attributes of an element cannot be read");
                break;
            };
            let written = plain(&attribute.value);
            let value = unescape(&written).map(|value| value.into_owned());
            pairs.insert(plain(attribute.key.as_ref()), value.unwrap_or(written));
        }
        pairs
    }

    fn error(&mut self, mut said: HashMap<String, String>) {
        let severity = match said.get("severity").map(String::as_str) {
            Some("warning") => Severity::Warning,
            Some("info") => Severity::Suggestion,
            Some("ignore") => return,
            // Checkstyle's own default.
            _ => Severity::Critical,
        };
        let line = said.get("line").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        self.draft.say(Said {
            message: said.remove("message").unwrap_or_default(),
            severity,
            place: self.draft.place(&self.file),
            line,
            end_line: None,
            rule: said.remove("source").filter(|rule| !rule.is_empty()),
            suggestion: None,
        });
    }
}

fn no_checkstyle(what: String) -> FormatError {
    FormatError::Syntax { format: Format::Checkstyle, what }
}

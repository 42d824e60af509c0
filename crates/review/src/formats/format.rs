use std::fmt;
use std::str::FromStr;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// A format in which tools write reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `referee/report-1`.
    Referee,
    /// SARIF 2.1.0.
    Sarif,
    /// Diagnostics of reviewdog in one JSON document.
    Rdjson,
    /// Diagnostics of reviewdog, one JSON object per line.
    Rdjsonl,
    /// Checkstyle's XML.
    Checkstyle,
    /// `cargo … --message-format=json`.
    Cargo,
    /// GitLab's code quality report.
    Gitlab,
}

impl Format {
    /// All formats, in the order in which help texts list them.
    pub const ALL: [Self; 7] =
        [Self::Referee, Self::Sarif, Self::Rdjson, Self::Rdjsonl, Self::Checkstyle, Self::Cargo, Self::Gitlab];

    /// Recognises the format of a report by its content. `None` if the content fits no format, or is empty.
    pub fn recognise(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match bytes.trim_ascii_start().first()? {
            b'<' => Some(Self::Checkstyle),
            b'[' => Some(Self::Gitlab),
            // Formats with one object per line are recognised by the first one.
            b'{' => serde_json::Deserializer::from_slice(bytes).into_iter::<TopLevelKeys>().next()?.ok()?.recognise(),
            _ => None,
        }
    }

    /// Returns the name used in config files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Referee => "referee",
            Self::Sarif => "sarif",
            Self::Rdjson => "rdjson",
            Self::Rdjsonl => "rdjsonl",
            Self::Checkstyle => "checkstyle",
            Self::Cargo => "cargo",
            Self::Gitlab => "gitlab",
        }
    }
}

/// Which keys a JSON object has, of those that tell formats apart.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TopLevelKeys {
    schema: Present,
    runs: Present,
    diagnostics: Present,
    reason: Present,
    message: Present,
    location: Present,
}

/// Whether a key exists, whatever its value.
#[derive(Clone, Copy, Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}

impl TopLevelKeys {
    fn recognise(&self) -> Option<Format> {
        let rows = [
            (self.schema.0, Format::Referee),
            (self.runs.0, Format::Sarif),
            (self.diagnostics.0, Format::Rdjson),
            (self.reason.0, Format::Cargo),
            (self.message.0 && self.location.0, Format::Rdjsonl),
        ];
        rows.into_iter().find(|(fits, _)| *fits).map(|(_, format)| format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that does not belong to any [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a report format; use one of {names}", names = list_format_names())]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

fn list_format_names() -> String {
    Format::ALL.map(|format| format!("`{format}`")).join(", ")
}

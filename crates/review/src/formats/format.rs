use std::fmt;
use std::str::FromStr;

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

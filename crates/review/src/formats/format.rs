use std::fmt;
use std::str::FromStr;

/// What a reviewer writes its report in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `referee/report-1`.
    Referee,
    /// SARIF 2.1.0.
    Sarif,
    /// Reviewdog's diagnostics, one document.
    Rdjson,
    /// Reviewdog's diagnostics, one a line.
    Rdjsonl,
    /// Checkstyle's XML.
    Checkstyle,
    /// `cargo … --message-format=json`.
    Cargo,
    /// GitLab's code quality report.
    Gitlab,
}

impl Format {
    /// All of them, in the order in which help lists them.
    pub const ALL: [Self; 7] =
        [Self::Referee, Self::Sarif, Self::Rdjson, Self::Rdjsonl, Self::Checkstyle, Self::Cargo, Self::Gitlab];

    /// As configs and options write it.
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

/// A name that is no format's; [`Format::ALL`] are those there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no report format: there are {names}", names = list_format_names())]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

fn list_format_names() -> String {
    Format::ALL.map(|it| format!("`{it}`")).join(", ")
}

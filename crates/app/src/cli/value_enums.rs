//! Option values that other modules define: their names and help texts on the command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::logging::LogFormat;
use crate::output::OutputFormat;

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Human,
            Self::Json,
            Self::Jsonl,
            Self::Sarif,
            Self::Rdjson,
            Self::Checkstyle,
            Self::Gitlab,
            Self::Github,
            Self::Md,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Human => ("human", "For people"),
            Self::Json => ("json", "One document, `referee/turn-1`"),
            Self::Jsonl => ("jsonl", "One event per line"),
            Self::Sarif => ("sarif", "SARIF 2.1.0"),
            Self::Rdjson => ("rdjson", "reviewdog's JSON"),
            Self::Checkstyle => ("checkstyle", "Checkstyle XML"),
            Self::Gitlab => ("gitlab", "GitLab code quality"),
            Self::Github => ("github", "GitHub workflow commands"),
            Self::Md => ("md", "Markdown"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for LogFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Text, Self::Json]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Text => ("text", "One line of text per event"),
            Self::Json => ("json", "One JSON object per event"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

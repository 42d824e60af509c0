//! The mutations as the planter applies them, held against `rules/mutations.md`, which was there first.

use regex::Regex;
use serde::Deserialize;

const TABLES: &[&str] = &[
    include_str!("rust.toml"),
    include_str!("python.toml"),
    include_str!("script.toml"),
    include_str!("go.toml"),
    include_str!("text.toml"),
];

const LIST: &str = include_str!("../../rules/mutations.md");

#[derive(Deserialize)]
struct Table {
    class: Vec<Class>,
}

/// One defect.
#[derive(Deserialize)]
pub(crate) struct Class {
    pub(crate) id: String,
    pub(crate) spelling: Vec<Spelling>,
}

/// One way in which it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spelling {
    /// The place, as a regular expression over lines.
    #[serde(default)]
    find: String,
    /// What stands there instead.
    pub(crate) put: String,
    /// A file that the change adds, with `put` as its content.
    pub(crate) file: Option<String>,
    /// The extension of the files to search, where the class does not say.
    files: Option<String>,
    #[serde(default)]
    pub(crate) inside: Inside,
    #[serde(default)]
    pub(crate) show: Show,
    /// The place is a whole statement: the line after it stands no deeper than its first.
    #[serde(default)]
    pub(crate) whole: bool,
}

/// In what the place lies.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inside {
    #[default]
    Code,
    Comment,
    String,
}

/// What the change shows.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Show {
    /// The original becomes the mutant.
    #[default]
    Edit,
    /// The statement is written anew, without what was dropped.
    New,
}

impl Spelling {
    pub(crate) fn place(&self) -> Regex {
        Regex::new(&format!("(?m){}", self.find)).expect("a spelling's place")
    }

    /// The extensions of its files, the one whose turn it is first.
    pub(crate) fn extensions(&self, class: &str, turn: usize) -> Vec<&str> {
        let of_class: &[&str] = match class.split('/').next() {
            Some("rust") => &["rs"],
            Some("python") => &["py"],
            Some("script") => &["js", "ts"],
            Some("go") => &["go"],
            _ => &["py", "js", "rs", "go", "ts"],
        };
        let mut extensions = self.files.as_deref().map_or_else(|| of_class.to_vec(), |extension| vec![extension]);
        let first = turn % extensions.len();
        extensions.rotate_left(first);
        extensions
    }
}

/// All classes; the list and the tables name the same, with as many spellings.
pub(crate) fn classes() -> Vec<Class> {
    let tables = TABLES.iter().map(|text| toml::from_str::<Table>(text).expect("a table of mutations"));
    let classes: Vec<Class> = tables.flat_map(|table| table.class).collect();
    let mut planted: Vec<(&str, usize)> =
        classes.iter().map(|class| (class.id.as_str(), class.spelling.len())).collect();
    let mut listed = listed();
    planted.sort_unstable();
    listed.sort_unstable();
    assert_eq!(planted, listed, "what is planted is not what rules/mutations.md lists");
    assert!(listed.iter().all(|(_, spellings)| *spellings >= 4), "a class has less than four spellings");
    classes
}

fn listed() -> Vec<(&'static str, usize)> {
    let sections = LIST.split("\n### ").skip(1);
    let spellings = |section: &str| {
        section.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("- ")).count()
    };
    sections.map(|section| (section.lines().next().unwrap_or_default(), spellings(section))).collect()
}

//! The oracle: the files of the pull and of its base as the driver wrote them, and therefore every defect in them.

use std::collections::{BTreeMap, BTreeSet};

use crate::dice::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Suggestion,
    Warning,
    Critical,
}

impl Level {
    pub(crate) const ALL: [Self; 3] = [Self::Suggestion, Self::Warning, Self::Critical];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Suggestion => "suggestion",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// A defect that the linter of `linter.sh` reports. Its text begins with `D<number>`, which no other defect has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Defect {
    pub(crate) number: u32,
    pub(crate) level: Level,
}

/// A line of a file; the number makes its text unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLine {
    Plain(u32),
    Defective(Defect),
}

/// The contents of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceTree(pub(crate) BTreeMap<String, Vec<SourceLine>>);

impl SourceLine {
    fn render(self) -> String {
        match self {
            Self::Plain(number) => format!("value_{number} = compute({number})\n"),
            Self::Defective(Defect { number, level }) => {
                // Every seventh text is longer than a title.
                let tail = if number % 7 == 0 {
                    " and the caller cannot tell which of its many inputs caused it".repeat(3)
                } else {
                    String::new()
                };
                format!(
                    "secret_{number} = load({number})  # DEFECT {} R{} D{number} leaks the secret{tail}\n",
                    level.name(),
                    number % 5
                )
            }
        }
    }
}

impl SourceTree {
    pub(crate) fn render(&self, path: &str) -> String {
        self.0[path].iter().map(|line| line.render()).collect()
    }

    pub(crate) fn defects(&self) -> BTreeSet<Defect> {
        let lines = self.0.values().flatten();
        lines.filter_map(|line| if let SourceLine::Defective(defect) = line { Some(*defect) } else { None }).collect()
    }

    /// Inserts a line at a random position of a file, which is created if it does not exist.
    pub(crate) fn insert(&mut self, dice: &mut Dice, path: &str, line: SourceLine) {
        let lines = self.0.entry(path.to_owned()).or_default();
        lines.insert(dice.below(lines.len() + 1), line);
    }

    pub(crate) fn remove(&mut self, gone: &BTreeSet<Defect>) {
        for lines in self.0.values_mut() {
            lines.retain(|line| !matches!(line, SourceLine::Defective(defect) if gone.contains(defect)));
        }
    }
}

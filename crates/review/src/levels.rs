//! Severities that the config sets for results (D37). They apply while a report is built, to built-in rules and to every
//! format alike, so that nothing later has to know of them.

use std::collections::BTreeMap;

use fast_glob::glob_match;
use referee_core::model::{RoleName, Severity, SubmittedFinding};
use serde::{Deserialize, Serialize};

/// What the config makes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleLevel {
    /// Counted as switched off, and not shown.
    Off,
    Suggestion,
    Warning,
    Critical,
}

/// One entry of `[rules]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSetting {
    /// Glob of rule ids. A `*` also matches `/`.
    pub rule: String,
    /// Globs of the files it applies to. Empty: all files.
    pub paths: Vec<String>,
    pub level: RuleLevel,
}

/// The settings that apply to the results of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleLevels {
    role: String,
    /// Replaces the defaults, by the tool's own level.
    tool_levels: BTreeMap<String, RuleLevel>,
    /// In the order of the file: the last match wins.
    settings: Vec<RuleSetting>,
}

/// What is known of a result before it becomes a finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedResult<'a> {
    /// The tool's name, where the report has one.
    pub(crate) tool: Option<&'a str>,
    pub(crate) rule: Option<&'a str>,
    /// Empty if the result names no file.
    pub(crate) path: &'a str,
    /// The level as the tool writes it.
    pub(crate) level: Option<&'a str>,
    /// The severity without any setting.
    pub(crate) default: Severity,
}

impl<'a> ReportedResult<'a> {
    /// A finding whose reviewer uses referee's severities as levels.
    pub(crate) fn from_finding(finding: &'a SubmittedFinding) -> Self {
        Self {
            tool: None,
            rule: finding.rule.as_deref(),
            path: &finding.path,
            level: Some(match finding.severity {
                Severity::Critical => "critical",
                Severity::Warning => "warning",
                Severity::Suggestion => "suggestion",
            }),
            default: finding.severity,
        }
    }
}

impl RuleLevels {
    pub fn for_role(
        role: &RoleName,
        tool_levels: BTreeMap<String, RuleLevel>,
        settings: Vec<RuleSetting>,
    ) -> RuleLevels {
        Self { role: role.as_str().to_owned(), tool_levels, settings }
    }

    /// Returns the severity of a result, or `None` if it is switched off.
    ///
    /// | first match | severity |
    /// |---|---|
    /// | neither rule nor file: the tool says something about its run, such as a failed build | the default |
    /// | `[rules]` and `[[rules.in]]` | of the last match |
    /// | `severity` of the role | of the tool's own level |
    /// | none | the default |
    pub(crate) fn assign(&self, result: &ReportedResult<'_>) -> Option<Severity> {
        if result.rule.is_none() && result.path.is_empty() {
            return Some(result.default);
        }
        let names = self.list_names(result);
        let setting = self.settings.iter().rev().find(|setting| setting.matches(&names, result.path));
        let mapped = || self.tool_levels.get(&result.level?.to_ascii_lowercase()).copied();
        match setting.map(|setting| setting.level).or_else(mapped) {
            Some(level) => level.severity(),
            None => Some(result.default),
        }
    }

    /// Returns the names of a rule that a pattern may use: its id, and the id below the role or the tool.
    fn list_names(&self, result: &ReportedResult<'_>) -> Vec<String> {
        let rule = result.rule.unwrap_or_default();
        let owners = [Some(self.role.clone()), result.tool.map(str::to_ascii_lowercase)];
        let below = owners.into_iter().flatten().map(|owner| format!("{owner}/{rule}"));
        [rule.to_owned()].into_iter().chain(below).map(|name| flatten_slashes(&name)).collect()
    }
}

impl RuleSetting {
    fn matches(&self, names: &[String], path: &str) -> bool {
        let pattern = flatten_slashes(&self.rule);
        names.iter().any(|name| glob_match(&pattern, name))
            && (self.paths.is_empty() || self.paths.iter().any(|glob| glob_match(glob, path)))
    }
}

impl RuleLevel {
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Suggestion => Some(Severity::Suggestion),
            Self::Warning => Some(Severity::Warning),
            Self::Critical => Some(Severity::Critical),
        }
    }
}

/// Replaces slashes, at which a `*` would stop: rule ids such as `import/order` are no paths.
fn flatten_slashes(text: &str) -> String {
    text.replace('/', "\u{1f}")
}

/// Returns what is wrong with a glob, if it is invalid.
pub fn find_glob_error(glob: &str) -> Option<String> {
    fast_glob::validate(glob).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(rule: &str, paths: &[&str], level: RuleLevel) -> RuleSetting {
        RuleSetting { rule: rule.to_owned(), paths: paths.iter().map(|path| (*path).to_owned()).collect(), level }
    }

    fn result<'a>(rule: &'a str, path: &'a str) -> ReportedResult<'a> {
        ReportedResult { tool: Some("Ruff"), rule: Some(rule), path, level: Some("error"), default: Severity::Warning }
    }

    fn levels(map: &[(&str, RuleLevel)], settings: Vec<RuleSetting>) -> RuleLevels {
        let map = map.iter().map(|(level, to)| ((*level).to_owned(), *to)).collect();
        RuleLevels::for_role(&RoleName::from("lint"), map, settings)
    }

    #[test]
    fn the_last_setting_that_matches_rule_and_path_wins_d37() {
        let levels = levels(
            &[],
            vec![
                setting("D*", &[], RuleLevel::Suggestion),
                setting("*", &["tests/**"], RuleLevel::Off),
                setting("D100", &["tests/api/**"], RuleLevel::Critical),
            ],
        );
        assert_eq!(levels.assign(&result("D100", "src/a.py")), Some(Severity::Suggestion));
        assert_eq!(levels.assign(&result("D100", "tests/a.py")), None);
        assert_eq!(levels.assign(&result("D100", "tests/api/a.py")), Some(Severity::Critical));
        assert_eq!(levels.assign(&result("F841", "src/a.py")), Some(Severity::Warning));
    }

    #[test]
    fn a_pattern_names_a_rule_by_its_id_its_role_or_its_tool_d37() {
        for pattern in ["import/order", "*", "import/*", "lint/import/order", "ruff/import/*", "*order", "i?port*"] {
            let levels = levels(&[], vec![setting(pattern, &[], RuleLevel::Off)]);
            assert_eq!(levels.assign(&result("import/order", "a.py")), None, "{pattern}");
        }
        for pattern in ["order", "other/import/order", "IMPORT/*", "import"] {
            let levels = levels(&[], vec![setting(pattern, &[], RuleLevel::Off)]);
            assert_eq!(levels.assign(&result("import/order", "a.py")), Some(Severity::Warning), "{pattern}");
        }
    }

    #[test]
    fn a_rule_setting_comes_before_the_map_of_the_tools_levels_d37() {
        let levels = levels(&[("error", RuleLevel::Critical)], vec![setting("D100", &[], RuleLevel::Suggestion)]);
        assert_eq!(levels.assign(&result("F841", "a.py")), Some(Severity::Critical));
        assert_eq!(
            levels.assign(&ReportedResult { level: Some("ERROR"), ..result("F", "a") }),
            Some(Severity::Critical)
        );
        assert_eq!(levels.assign(&ReportedResult { level: Some("note"), ..result("F", "a") }), Some(Severity::Warning));
        assert_eq!(levels.assign(&result("D100", "a.py")), Some(Severity::Suggestion));
    }

    #[test]
    fn a_message_about_the_run_itself_keeps_its_severity() {
        let levels = levels(&[("error", RuleLevel::Off)], vec![setting("*", &[], RuleLevel::Off)]);
        assert_eq!(levels.assign(&ReportedResult { rule: None, ..result("", "") }), Some(Severity::Warning));
        assert_eq!(levels.assign(&ReportedResult { rule: None, ..result("", "a.py") }), None);
        assert_eq!(levels.assign(&result("D100", "")), None);
    }
}

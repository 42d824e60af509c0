//! The severities that the config sets apply to every format (D37).

use std::collections::BTreeMap;

use referee_core::model::{Severity, Submission};
use referee_review::formats::{Format, ToolExit};
use referee_review::{RuleLevel, RuleLevels, RuleSetting};

use crate::{SAMPLES, parse_file, parse_with_levels};

fn parse(format: Format, text: &str, levels: &RuleLevels) -> Submission {
    parse_with_levels(format, text.as_bytes(), ToolExit::Unknown, levels).expect("it can be parsed")
}

fn count_results(report: &Submission) -> usize {
    report.findings.len() + report.left_out.not_shown() as usize
}

#[test]
fn a_rule_that_is_off_is_counted_in_every_format_d37() {
    let everything = RuleSetting { rule: "*".to_owned(), paths: Vec::new(), level: RuleLevel::Off };
    let levels = RuleLevels::for_role(&"lint".into(), BTreeMap::new(), vec![everything]);
    for (format, text) in SAMPLES {
        let (before, after) = (parse_file(format, text), parse(format, text, &levels));
        assert_eq!(after.findings, [], "{format}");
        assert_eq!(count_results(&after), count_results(&before), "{format}");
        let expected = before.findings.len() as u32 + before.left_out.off + before.left_out.outside;
        assert_eq!(after.left_out.off, expected, "{format}: {:?}", after.left_out);
        assert!(!after.summary.contains("in no file of this repository"), "{format}: {}", after.summary);
    }
}

#[test]
fn a_role_maps_the_levels_of_its_tool_in_every_format_d37() {
    let all =
        ["error", "warning", "note", "none", "info", "help", "blocker", "critical", "major", "minor", "suggestion"];
    let map = |level: RuleLevel| {
        let map = all.iter().map(|from| ((*from).to_owned(), level)).collect();
        RuleLevels::for_role(&"lint".into(), map, Vec::new())
    };
    for (format, text) in SAMPLES {
        let critical = parse(format, text, &map(RuleLevel::Critical));
        assert!(!critical.findings.is_empty(), "{format}");
        assert!(critical.findings.iter().all(|found| found.severity == Severity::Critical), "{format}: {critical:?}");
        let off = parse(format, text, &map(RuleLevel::Off));
        assert!(off.findings.is_empty(), "{format}: {off:?}");
    }
}

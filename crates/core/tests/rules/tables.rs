//! `Rule` is the only place a rule is named: the tables in doc comments and in the docs list its rules in its order.

use std::collections::BTreeSet;

use referee_core::rule::{Rule, RuleStage};

/// Each stage whose tables list all of its rules, with the sources that hold them, in order.
const TABLES: &[(RuleStage, &[&str])] = &[
    (RuleStage::Guard, &[include_str!("../../src/decide/mod.rs"), include_str!("../../src/decide/forged_marks.rs")]),
    (
        RuleStage::Threads,
        &[
            include_str!("../../src/decide/threads/known_findings.rs"),
            include_str!("../../src/decide/threads/thread_reply.rs"),
            include_str!("../../src/decide/threads/doubles.rs"),
        ],
    ),
    (
        RuleStage::Publish,
        &[include_str!("../../src/decide/publish/table.rs"), include_str!("../../src/decide/publish/mod.rs")],
    ),
    (
        RuleStage::Answers,
        &[
            include_str!("../../src/decide/settle/preconditions.rs"),
            include_str!("../../src/decide/settle/mod.rs"),
            include_str!("../../src/decide/settle/ruling.rs"),
        ],
    ),
    (RuleStage::Review, &[include_str!("../../src/decide/rules/review.rs")]),
    (RuleStage::Turn, &[include_str!("../../src/decide/rules/mod.rs")]),
    (RuleStage::Schedule, &[include_str!("../../src/decide/schedule.rs")]),
];

/// A row of a table: its rule, the number beside it, and when it applies.
fn parse_row(line: &str) -> Option<(Rule, &str, &str)> {
    let cells: Vec<&str> =
        line.trim_start_matches(['/', '!', ' ']).strip_prefix('|')?.split('|').map(str::trim).collect();
    let at = cells.iter().position(|cell| cell.starts_with('`'))?;
    let (name, number) = cells[at].strip_prefix('`')?.split_once('`')?;
    let number = if at == 0 { number } else { cells[0] };
    Some((Rule::from_name(name)?, number.trim_matches([' ', '(', ')']), cells.get(at + 1)?))
}

fn doc_rows(source: &str) -> Vec<(Rule, &str, &str)> {
    source.lines().filter(|line| line.starts_with("//")).filter_map(parse_row).collect()
}

#[test]
fn names_are_unique_and_found_again() {
    let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert_eq!(Rule::from_name(rule.name()), Some(*rule));
        let json = serde_json::to_string(rule).expect("a string");
        assert_eq!(json, format!("{:?}", rule.name()));
        assert_eq!(serde_json::from_str::<Rule>(&json).expect("a rule"), *rule);
        assert!(rule.explanation().ends_with('.'), "{rule}");
    }
    assert!(serde_json::from_str::<Rule>("\"nothing\"").is_err());
}

#[test]
fn tables_in_doc_comments_list_the_rules_in_the_order_of_the_code() {
    for (stage, sources) in TABLES {
        let rows: Vec<(Rule, &str, &str)> = sources.iter().flat_map(|source| doc_rows(source)).collect();
        let listed: Vec<Rule> = rows.iter().map(|(rule, ..)| *rule).filter(|rule| rule.stage() == *stage).collect();
        let expected: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.stage() == *stage).collect();
        assert_eq!(listed, expected, "{stage:?}");
    }
}

// spec: DSP-12 @core
#[test]
fn the_dispatch_page_lists_the_numbered_rules_as_the_code_does() {
    let page = include_str!("../../../../docs/dispatch.md");
    let rows: Vec<(Rule, &str, &str)> = page.lines().filter_map(parse_row).collect();
    let listed: Vec<(Rule, Option<u8>)> = rows.iter().map(|(rule, number, _)| (*rule, number.parse().ok())).collect();
    let numbered =
        Rule::ALL.iter().copied().filter(|rule| rule.number().is_some_and(|number| (2..=10).contains(&number)));
    let expected: Vec<(Rule, Option<u8>)> = numbered.map(|rule| (rule, rule.number())).collect();
    assert_eq!(listed, expected);
    for (rule, _, when) in rows {
        assert_eq!(when, rule.when(), "{rule}");
    }
}

#[test]
fn the_table_of_turns_says_when_each_rule_applies() {
    for (rule, number, when) in doc_rows(include_str!("../../src/decide/rules/mod.rs")) {
        assert_eq!(when, rule.when(), "{rule}");
        assert_eq!(number.parse().ok(), rule.number(), "{rule}");
    }
}

//! Secret rules match their samples, and no report contains the value of a secret.

use referee_review::builtin::RuleSet;

use crate::test_change::{TestChange, repository_rules, rule_lines};

const SAMPLES: &str = include_str!("../../rules/text/secrets.samples.toml");

#[test]
fn every_secret_rule_matches_its_bad_samples_only() {
    let samples: toml::Table = SAMPLES.parse().expect("the samples can be read");
    let rules: toml::Table = include_str!("../../rules/secrets.toml").parse().expect("the rules can be read");
    let ids: Vec<&str> =
        rules["rules"].as_array().expect("a list").iter().map(|rule| rule["id"].as_str().expect("an id")).collect();
    assert!(ids.len() >= 40);
    let mut wrong = Vec::new();
    for id in ids {
        let Some(sample) = samples.get(id) else {
            wrong.push(format!("`{id}` has no samples"));
            continue;
        };
        let path = sample.get("path").and_then(|path| path.as_str()).unwrap_or("src/sample.txt");
        let found = |text: &toml::Value| {
            let (text, values) = fill_sample(text.as_str().expect("a text"));
            let report = TestChange::default().adds(path, &text).review();
            for value in values {
                let text = format!("{:?} {}", report.findings, report.summary);
                assert!(value.len() < 16 || !text.contains(&value[4..]), "{id} reveals the secret");
            }
            let found: Vec<String> = report.findings.iter().filter_map(|finding| finding.rule.clone()).collect();
            (found.iter().any(|rule| rule == id), text, found)
        };
        for text in sample["hit"].as_array().expect("a list") {
            let (hit, text, found) = found(text);
            if !hit {
                wrong.push(format!("{id} does not match {text}; matched: {found:?}"));
            }
        }
        for text in sample["miss"].as_array().expect("a list") {
            let (hit, text, _) = found(text);
            if hit {
                wrong.push(format!("{id} matches {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// spec: SAF-4 @local
#[test]
fn the_value_of_a_secret_is_nowhere_in_the_report() {
    let (token, _) = fill_sample("ghp_{36}");
    let rules = repository_rules(&[(
        ".referee/rules/log.yml",
        "id: log\nlanguage: Python\nseverity: warning\nmessage: $X is printed\nrule: { pattern: print($X) }\nfix: log($X)\n",
    )]);
    let report = TestChange::default().adds("a.py", format!("print(\"{token}\")\n")).review_with(&rules);
    assert_eq!(rule_lines(&report), [("github-pat", 1), ("log", 1)]);
    let text = format!("{report:?}");
    assert!(!text.contains(&token[4..]), "{text}");
    assert!(report.findings[0].body.starts_with("It begins with `ghp_`. "));
    assert_eq!(report.findings[1].suggestion, None);
}

#[test]
fn a_secret_is_reported_once_by_the_most_specific_rule() {
    let (line, _) = fill_sample("api_key = \"ghp_{36}\"\n");
    assert_eq!(rule_lines(&TestChange::default().adds("a.py", line).review()), [("github-pat", 1)]);
}

#[test]
fn secrets_outside_the_change_are_not_reported() {
    let (line, _) = fill_sample("key = ghp_{36}\n");
    let change = TestChange::default().changes("a.txt", &format!("{line}b\n"), &[(2, "+b\n")]);
    assert_eq!(rule_lines(&change.review()), []);
}

#[test]
fn a_key_over_several_lines_is_reported_at_its_first_line() {
    let (text, _) = fill_sample("a\n-----BEGIN PRIVATE KEY-----\n{64}\n{64}\n-----END PRIVATE KEY-----\n");
    let report = TestChange::default().adds("a.txt", text).review();
    assert_eq!(rule_lines(&report), [("private-key", 3)]);
}

#[test]
fn the_gitleaks_file_of_a_repository_extends_disables_and_adds_rules() {
    let (github, _) = fill_sample("a = ghp_{36}\n");
    let (npm, _) = fill_sample("b = npm_{36}\n");
    let text = format!("{github}{npm}c = acme-12345678\nd = acme-00000000\n");
    let config = r#"
title = "acme"
[extend]
useDefault = true
disabledRules = ["npm-access-token"]
[[rules]]
id = "acme-token"
description = "An Acme token"
regex = '''acme-(\d{8})'''
keywords = ["acme"]
[rules.allowlist]
regexes = ["^0+$"]
[[allowlists]]
paths = ['''^fixtures/''']
"#;
    let rules = repository_rules(&[(".gitleaks.toml", config)]);
    let change = TestChange::default().adds("a.txt", &text).adds("fixtures/a.txt", &text);
    assert_eq!(rule_lines(&change.review_with(&rules)), [("github-pat", 1), ("acme-token", 3)]);
    let alone = repository_rules(&[(".gitleaks.toml", &config.replace("useDefault = true", ""))]);
    assert_eq!(
        rule_lines(&change.review_with(&alone)),
        [("acme-token", 3)],
        "the default rules are extended only on request, as in gitleaks"
    );
    assert!(RuleSet::load_embedded().expect("the rules can be read").find_page("acme-token").is_none());
    assert_eq!(rules.find_page("acme-token").expect("it has a page").title, "An Acme token is committed");
}

/// Returns a sample with its placeholders filled with random characters, and the values filled in.
pub(crate) fn fill_sample(sample: &str) -> (String, Vec<String>) {
    let (mut text, mut values, mut state) = (String::new(), Vec::new(), 0x9E37_79B9_u32);
    let mut rest = sample;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let hole = after.split_once('}').and_then(|(hole, after)| {
            let (count, kind) = hole.split_once(':').unwrap_or((hole, ""));
            Some((count.parse::<usize>().ok()?, kind, after))
        });
        let Some((count, kind, after)) = hole else {
            text.push('{');
            rest = after;
            continue;
        };
        let letters: Vec<char> = match kind {
            "A" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "x" => "0123456789abcdef",
            "9" => "1234567890",
            "a" => "abcdefghijklmnopqrstuvwxyz0123456789",
            "l" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            "b" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
            _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        }
        .chars()
        .collect();
        let value: String = (0..count)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                letters[(state >> 16) as usize % letters.len()]
            })
            .collect();
        text.push_str(&value);
        values.push(value);
        rest = after;
    }
    text.push_str(rest);
    (text, values)
}

//! Secrets: each rule's samples, and that no value is ever said.

use referee_review::builtin::RuleSet;

use crate::desk::{Desk, own, places};

const SAMPLES: &str = include_str!("../../rules/text/secrets.samples.toml");

#[test]
fn every_rule_hits_what_it_must_and_nothing_that_it_must_not() {
    let samples: toml::Table = SAMPLES.parse().expect("the samples can be read");
    let rules: toml::Table = include_str!("../../rules/secrets.toml").parse().expect("the rules can be read");
    let ids: Vec<&str> =
        rules["rules"].as_array().expect("a list").iter().map(|it| it["id"].as_str().expect("a name")).collect();
    assert!(ids.len() >= 40);
    let mut wrong = Vec::new();
    for id in ids {
        let Some(sample) = samples.get(id) else {
            wrong.push(format!("`{id}` has no samples"));
            continue;
        };
        let path = sample.get("path").and_then(|it| it.as_str()).unwrap_or("src/sample.txt");
        let found = |text: &toml::Value| {
            let (text, values) = filled(text.as_str().expect("a text"));
            let report = Desk::default().adds(path, &text).review();
            for value in values {
                let said = format!("{:?} {}", report.findings, report.summary);
                assert!(value.len() < 16 || !said.contains(&value[4..]), "{id} tells the secret");
            }
            let found: Vec<String> = report.findings.iter().filter_map(|it| it.rule.clone()).collect();
            (found.iter().any(|rule| rule == id), text, found)
        };
        for text in sample["hit"].as_array().expect("a list") {
            let (hit, text, found) = found(text);
            if !hit {
                wrong.push(format!("{id} misses {text}, which is {found:?}"));
            }
        }
        for text in sample["miss"].as_array().expect("a list") {
            let (hit, text, _) = found(text);
            if hit {
                wrong.push(format!("{id} hits {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// spec: SAF-4 @local
#[test]
fn a_secret_s_value_is_in_no_text_of_the_report() {
    let (token, _) = filled("ghp_{36}");
    let rules = own(&[(
        ".referee/rules/log.yml",
        "id: log\nlanguage: Python\nseverity: warning\nmessage: $X is printed\nrule: { pattern: print($X) }\nfix: log($X)\n",
    )]);
    let report = Desk::default().adds("a.py", format!("print(\"{token}\")\n")).review_by(&rules);
    assert_eq!(places(&report), [("github-pat", 1), ("log", 1)]);
    let said = format!("{report:?}");
    assert!(!said.contains(&token[4..]), "{said}");
    assert!(report.findings[0].body.starts_with("It begins with `ghp_`. "));
    assert_eq!(report.findings[1].suggestion, None);
}

#[test]
fn one_secret_is_one_finding_of_the_rule_that_knows_it_best() {
    let (line, _) = filled("api_key = \"ghp_{36}\"\n");
    assert_eq!(places(&Desk::default().adds("a.py", line).review()), [("github-pat", 1)]);
}

#[test]
fn old_secrets_are_not_this_change_s() {
    let (line, _) = filled("key = ghp_{36}\n");
    let desk = Desk::default().changes("a.txt", &format!("{line}b\n"), &[(2, "+b\n")]);
    assert_eq!(places(&desk.review()), []);
}

#[test]
fn a_key_over_several_lines_is_found_where_it_begins() {
    let (text, _) = filled("a\n-----BEGIN PRIVATE KEY-----\n{64}\n{64}\n-----END PRIVATE KEY-----\n");
    let report = Desk::default().adds("a.txt", text).review();
    assert_eq!(places(&report), [("private-key", 3)]);
}

#[test]
fn a_repository_s_gitleaks_file_extends_silences_and_adds() {
    let (github, _) = filled("a = ghp_{36}\n");
    let (npm, _) = filled("b = npm_{36}\n");
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
    let rules = own(&[(".gitleaks.toml", config)]);
    let desk = Desk::default().adds("a.txt", &text).adds("fixtures/a.txt", &text);
    assert_eq!(places(&desk.review_by(&rules)), [("github-pat", 1), ("acme-token", 3)]);
    let alone = own(&[(".gitleaks.toml", &config.replace("useDefault = true", ""))]);
    assert_eq!(places(&desk.review_by(&alone)), [("acme-token", 3)], "as in the format, nothing is extended unasked");
    assert!(RuleSet::load_embedded().expect("the rules can be read").find_page("acme-token").is_none());
    assert_eq!(rules.find_page("acme-token").expect("it has a page").title, "An Acme token is committed");
}

/// The sample with random characters in its holes, and these.
pub(crate) fn filled(sample: &str) -> (String, Vec<String>) {
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

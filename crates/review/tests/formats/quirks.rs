//! What real tools write beyond the standards.

use referee_core::model::{Severity, SubmittedOutcome};
use referee_review::formats::{Format, FormatError, ToolExit};

use crate::{SAMPLES, parse, parse_file, sample};

#[test]
fn another_format_is_rejected_with_a_hint() {
    for format in Format::ALL {
        for (other, text) in SAMPLES.into_iter().filter(|(other, _)| *other != format) {
            let error = parse(format, text.as_bytes(), ToolExit::Completed).expect_err(other.name());
            assert!(error.hint().is_some(), "{format}");
            let is_format_error = matches!(
                error,
                FormatError::WrongFormat { .. } | FormatError::Syntax { .. } | FormatError::Violations(_)
            );
            assert!(is_format_error, "{other} parsed as {format}: {error}");
        }
        let garbage = parse(format, b"warning: something\nis wrong\n", ToolExit::Completed);
        assert!(garbage.is_err(), "{format}");
    }
}

#[test]
fn invalid_utf8_in_a_quote_is_replaced() {
    let latin = sample(Format::Gitlab).replace("hard to tell apart", "hard to tell (X)").into_bytes();
    let latin: Vec<u8> = latin.into_iter().map(|byte| if byte == b'X' { 0xe9 } else { byte }).collect();
    let report = parse(Format::Gitlab, &latin, ToolExit::Completed).expect("it can be parsed");
    assert!(report.findings[0].body.contains("(\u{fffd})"), "{}", report.findings[0].body);
    let wide: Vec<u8> = [0xfffe_u16].into_iter().chain("[]".encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let error = parse(Format::Gitlab, &wide[..], ToolExit::Completed).expect_err("it is not UTF-8");
    assert_eq!(error, FormatError::NotUtf8 { at: 0 });
}

#[test]
fn a_byte_order_mark_is_ignored() {
    for (format, text) in SAMPLES {
        let marked = format!("\u{feff}{text}");
        assert_eq!(parse_file(format, &marked), parse_file(format, text));
    }
}

#[test]
fn a_long_message_gets_a_short_title_and_a_full_body() {
    let long = "ü".repeat(1_200);
    let text = format!(r#"[{{"description":"{long}\nmore","location":{{"path":"a"}}}}]"#);
    let found = &parse_file(Format::Gitlab, &text).findings[0];
    assert_eq!(found.title, format!("{}…", "ü".repeat(999)));
    assert_eq!(found.body, format!("{long}\nmore"));
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn repeated_messages_are_all_received() {
    let text = sample(Format::Cargo);
    let (messages, end) = text.split_at(text.find("{\"reason\":\"build-finished\"").expect("it ends"));
    let report = parse_file(Format::Cargo, &format!("{messages}{messages}{end}"));
    let once = parse_file(Format::Cargo, text);
    // Core merges and counts them (D38, PUB-23).
    assert_eq!(report.findings.len(), 2 * once.findings.len());
}

#[test]
fn other_output_of_a_build_is_not_a_message() {
    let text = sample(Format::Cargo);
    let chatty = format!("hello\n{text}running 3 tests\n{{ not json\n");
    assert_eq!(parse_file(Format::Cargo, &chatty), parse_file(Format::Cargo, text));
    let broken = format!("{{\"reason\":\"compiler-mess\n{text}");
    assert_eq!(parse_file(Format::Cargo, &broken).coverage, None, "the broken line may have been a message");
    let unfinished = format!("{text}{}", text.lines().next().expect("there is one"));
    assert_eq!(parse_file(Format::Cargo, &unfinished).coverage, None, "a second build did not finish");
}

#[test]
fn entities_of_the_document_are_not_expanded() {
    let bomb = r#"<!DOCTYPE checkstyle [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
<checkstyle><file name="src/lib.rs"><error line="1" severity="info" message="&b; &f;"/></file></checkstyle>"#;
    let report = parse_file(Format::Checkstyle, bomb);
    assert_eq!(report.findings[0].title, "&b; &f;");
}

#[test]
fn broken_xml_is_never_complete() {
    let broken = [
        "<checkstyle><file name='a'></checkstyle>",
        "<checkstyle></checkstyle><checkstyle>",
        "<checkstyle></checkstyle>Killed",
        "<checkstyle><file name='a'><error line='1' message=oops/></file></checkstyle>",
    ];
    for text in broken {
        let report = parse_file(Format::Checkstyle, text);
        assert_eq!(report.coverage, None, "{text}");
    }
}

// D37
#[test]
fn sarif_severity_follows_score_kind_and_level() {
    let rows = [
        (r#""level":"error""#, Severity::Warning),
        (r#""level":"warning""#, Severity::Warning),
        (r#""level":"note""#, Severity::Suggestion),
        (r#""level":"none""#, Severity::Suggestion),
        (r#""kind":"fail""#, Severity::Warning),
        (r#""kind":"review","level":"error""#, Severity::Suggestion),
        (r#""level":"note","properties":{"security-severity":"7.0"}"#, Severity::Critical),
        (r#""level":"note","properties":{"security-severity":6.9}"#, Severity::Warning),
        (r#""level":"error","properties":{"security-severity":3.9}"#, Severity::Suggestion),
    ];
    for (fields, severity) in rows {
        let location = r#"{"physicalLocation":{"artifactLocation":{"uri":"src/lib.rs"},"region":{"startLine":1}}}"#;
        let result = format!(r#"{{"message":{{"text":"x"}},"locations":[{location}],"ruleIndex":-1,{fields}}}"#);
        let log = format!(r#"{{"runs":[{{"tool":{{"driver":{{"name":"x"}}}},"results":[{result}]}}]}}"#);
        let report = parse_file(Format::Sarif, &log);
        assert_eq!(report.findings[0].severity, severity, "{fields}");
    }
}

#[test]
fn circular_base_uris_end() {
    let bases = r#"{"A":{"uri":"a/","uriBaseId":"B"},"B":{"uri":"b/","uriBaseId":"A"}}"#;
    let location = r#"{"physicalLocation":{"artifactLocation":{"uri":"x.rs","uriBaseId":"A"}}}"#;
    let result = format!(r#"{{"message":{{"text":"x"}},"locations":[{location}]}}"#);
    let log = format!(
        r#"{{"runs":[{{"tool":{{"driver":{{"name":"x"}}}},"originalUriBaseIds":{bases},"results":[{result}]}}]}}"#
    );
    let report = parse_file(Format::Sarif, &log);
    assert_eq!(report.outcome, SubmittedOutcome::Findings);
    assert!(report.findings[0].path.ends_with("b/a/x.rs"), "{}", report.findings[0].path);
}

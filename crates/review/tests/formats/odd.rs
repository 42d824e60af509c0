//! What real tools do that no standard says.

use referee_core::model::{Severity, SubmittedOutcome};
use referee_review::formats::{Format, FormatError, ToolExit};

use crate::{SAMPLES, read, read_file, sample};

#[test]
fn another_format_is_told() {
    for format in Format::ALL {
        for (other, text) in SAMPLES.into_iter().filter(|(other, _)| *other != format) {
            let error = read(format, text.as_bytes(), ToolExit::Completed).expect_err(other.name());
            assert!(error.hint().is_some(), "{format}");
            let told = matches!(
                error,
                FormatError::WrongFormat { .. } | FormatError::Syntax { .. } | FormatError::Violations(_)
            );
            assert!(told, "{other} read as {format}: {error}");
        }
        let garbage = read(format, b"warning: something\nis wrong\n", ToolExit::Completed);
        assert!(garbage.is_err(), "{format}");
    }
}

#[test]
fn stray_bytes_in_a_quote_lose_no_report() {
    let latin = sample(Format::Gitlab).replace("hard to tell apart", "hard to tell (X)").into_bytes();
    let latin: Vec<u8> = latin.into_iter().map(|byte| if byte == b'X' { 0xe9 } else { byte }).collect();
    let report = read(Format::Gitlab, &latin, ToolExit::Completed).expect("it can be read");
    assert!(report.findings[0].body.contains("(\u{fffd})"), "{}", report.findings[0].body);
    let wide: Vec<u8> = [0xfffe_u16].into_iter().chain("[]".encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let error = read(Format::Gitlab, &wide[..], ToolExit::Completed).expect_err("it is no UTF-8");
    assert_eq!(error, FormatError::NotUtf8 { at: 0 });
}

#[test]
fn a_byte_order_mark_is_no_garbage() {
    for (format, text) in SAMPLES {
        let marked = format!("\u{feff}{text}");
        assert_eq!(read_file(format, &marked), read_file(format, text));
    }
}

#[test]
fn a_long_message_has_a_short_title_and_loses_nothing() {
    let long = "ü".repeat(200);
    let text = format!(r#"[{{"description":"{long}\nmore","location":{{"path":"a"}}}}]"#);
    let found = &read_file(Format::Gitlab, &text).findings[0];
    assert_eq!(found.title, format!("{}…", "ü".repeat(119)));
    assert_eq!(found.body, format!("{long}\nmore"));
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn the_same_message_twice_is_one() {
    let text = sample(Format::Cargo);
    let (messages, end) = text.split_at(text.find("{\"reason\":\"build-finished\"").expect("it ends"));
    let report = read_file(Format::Cargo, &format!("{messages}{messages}{end}"));
    assert_eq!(report, read_file(Format::Cargo, text));
}

#[test]
fn what_a_build_prints_beside_its_messages_is_no_message() {
    let text = sample(Format::Cargo);
    let chatty = format!("hello\n{text}running 3 tests\n{{ not json\n");
    assert_eq!(read_file(Format::Cargo, &chatty), read_file(Format::Cargo, text));
    let broken = format!("{{\"reason\":\"compiler-mess\n{text}");
    assert_eq!(read_file(Format::Cargo, &broken).coverage, None, "a message may have been in it");
    let unfinished = format!("{text}{}", text.lines().next().expect("there is one"));
    assert_eq!(read_file(Format::Cargo, &unfinished).coverage, None, "a second build has no end");
}

#[test]
fn no_entity_of_the_document_is_expanded() {
    let bomb = r#"<!DOCTYPE checkstyle [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
<checkstyle><file name="src/lib.rs"><error line="1" severity="info" message="&b; &f;"/></file></checkstyle>"#;
    let report = read_file(Format::Checkstyle, bomb);
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
        let report = read_file(Format::Checkstyle, text);
        assert_eq!(report.coverage, None, "{text}");
    }
}

#[test]
fn sarif_counts_what_is_graver_by_its_score_and_milder_by_its_kind() {
    let rows = [
        (r#""level":"error""#, Severity::Critical),
        (r#""level":"warning""#, Severity::Warning),
        (r#""level":"note""#, Severity::Suggestion),
        (r#""level":"none""#, Severity::Suggestion),
        (r#""kind":"fail""#, Severity::Warning),
        (r#""kind":"review","level":"error""#, Severity::Suggestion),
        (r#""level":"note","properties":{"security-severity":"7.0"}"#, Severity::Critical),
        (r#""level":"note","properties":{"security-severity":6.9}"#, Severity::Suggestion),
    ];
    for (fields, severity) in rows {
        let location = r#"{"physicalLocation":{"artifactLocation":{"uri":"src/lib.rs"},"region":{"startLine":1}}}"#;
        let result = format!(r#"{{"message":{{"text":"x"}},"locations":[{location}],"ruleIndex":-1,{fields}}}"#);
        let log = format!(r#"{{"runs":[{{"tool":{{"driver":{{"name":"x"}}}},"results":[{result}]}}]}}"#);
        let report = read_file(Format::Sarif, &log);
        assert_eq!(report.findings[0].severity, severity, "{fields}");
    }
}

#[test]
fn bases_that_stand_on_each_other_have_an_end() {
    let bases = r#"{"A":{"uri":"a/","uriBaseId":"B"},"B":{"uri":"b/","uriBaseId":"A"}}"#;
    let location = r#"{"physicalLocation":{"artifactLocation":{"uri":"x.rs","uriBaseId":"A"}}}"#;
    let result = format!(r#"{{"message":{{"text":"x"}},"locations":[{location}]}}"#);
    let log = format!(
        r#"{{"runs":[{{"tool":{{"driver":{{"name":"x"}}}},"originalUriBaseIds":{bases},"results":[{result}]}}]}}"#
    );
    let report = read_file(Format::Sarif, &log);
    assert_eq!(report.outcome, SubmittedOutcome::Findings);
    assert!(report.findings[0].path.ends_with("b/a/x.rs"), "{}", report.findings[0].path);
}

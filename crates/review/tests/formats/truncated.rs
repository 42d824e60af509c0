//! A truncated report is never complete (D9).

use proptest::collection::vec;
use proptest::prelude::*;
use referee_core::model::{Submission, SubmittedOutcome};
use referee_review::formats::{Format, FormatError, MAX_REPORT_BYTES, ToolExit};

use crate::{SAMPLES, parse, sample};

#[test]
fn a_truncated_report_is_never_complete() {
    for (format, text) in SAMPLES {
        let whole = text.trim_end().len();
        // At every byte of a small sample; at every 61st and every 1000th byte of a large one.
        let step = if text.len() < 6000 { 1 } else { 61 };
        for cut in (0..whole).step_by(step).chain((0..whole).step_by(1000)) {
            let parsed = parse(format, &text.as_bytes()[..cut], ToolExit::Unknown);
            assert!(is_incomplete(&parsed), "{format} cut at {cut}: {parsed:?}");
        }
    }
}

/// Lines of cargo are long, so the last ones are cut at every byte.
#[test]
fn a_truncated_line_of_cargo_is_never_complete() {
    let text = sample(Format::Cargo);
    let last_lines = text.trim_end().rmatch_indices('\n').nth(1).expect("there are several").0;
    for cut in last_lines..text.trim_end().len() {
        let report =
            parse(Format::Cargo, &text.as_bytes()[..cut], ToolExit::Completed).expect("the messages before are parsed");
        assert_eq!((report.findings.len(), report.coverage), (5, None), "cut at {cut}");
    }
}

#[test]
fn records_before_the_cut_are_kept() {
    let kept = [(Format::Checkstyle, "</file>"), (Format::Cargo, "\n"), (Format::Rdjsonl, "\n")];
    for (format, end) in kept {
        let text = sample(format);
        let cut = text.find(end).expect("there is one") + end.len();
        let report = parse(format, &text.as_bytes()[..cut], ToolExit::Unknown).expect("it can be parsed");
        assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Findings, None), "{format}");
        assert!(report.summary.contains("The report is incomplete"), "{format}: {}", report.summary);
    }
}

#[test]
fn a_truncated_document_is_rejected() {
    for format in [Format::Referee, Format::Sarif, Format::Rdjson, Format::Gitlab] {
        let text = sample(format);
        let error =
            parse(format, &text.as_bytes()[..text.len() / 2], ToolExit::Completed).expect_err("it is truncated");
        assert!(matches!(error, FormatError::Truncated { .. }), "{format}: {error}");
    }
}

#[test]
fn an_empty_report_is_a_failed_report() {
    for format in Format::ALL {
        for text in ["", "\n", " \n\t\n", "\u{feff}"] {
            let report = parse(format, text.as_bytes(), ToolExit::Completed).expect("an empty report is not an error");
            assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Failed, None), "{format}");
            assert_eq!(report.reason, "the report is empty");
        }
    }
}

#[test]
fn a_report_of_100_mb_is_rejected() {
    let bytes = vec![b' '; MAX_REPORT_BYTES];
    for format in Format::ALL {
        let error = parse(format, &bytes, ToolExit::Completed).expect_err("it is too large");
        assert_eq!(error, FormatError::TooLarge { bytes: MAX_REPORT_BYTES });
        assert_eq!(error.to_string(), "the report was rejected: it has 100 MB, and the limit is 100 MB");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_rejected(bytes in vec(any::<u8>(), 0..400)) {
        for format in Format::ALL {
            let _ = parse(format, &bytes, ToolExit::Completed);
        }
    }

    #[test]
    fn a_damaged_sample_is_parsed_or_rejected(at in any::<prop::sample::Index>(), damage in vec(any::<u8>(), 0..6)) {
        for (format, text) in SAMPLES {
            let at = at.index(text.len());
            let bytes = [&text.as_bytes()[..at], &damage, &text.as_bytes()[(at + 3).min(text.len())..]].concat();
            let _ = parse(format, &bytes, ToolExit::Completed);
        }
    }
}

fn is_incomplete(parsed: &Result<Submission, FormatError>) -> bool {
    parsed.as_ref().map_or(true, |report| report.coverage.is_none())
}

//! Half a report says nothing of the other half (D9).

use proptest::collection::vec;
use proptest::prelude::*;
use referee_core::model::{Submission, SubmittedOutcome};
use referee_review::formats::{Format, FormatError, MAX_REPORT_BYTES, ToolExit};

use crate::{SAMPLES, read, sample};

#[test]
fn a_cut_report_is_never_complete() {
    for (format, text) in SAMPLES {
        let whole = text.trim_end().len();
        // At each byte of a small one, at each kilobyte and some odd places of a large one.
        let step = if text.len() < 6000 { 1 } else { 61 };
        for cut in (0..whole).step_by(step).chain((0..whole).step_by(1000)) {
            let read = read(format, &text.as_bytes()[..cut], ToolExit::Unknown);
            assert!(is_incomplete(&read), "{format} cut at {cut}: {read:?}");
        }
    }
}

/// One line of cargo's is longer than a kilobyte: all of its bytes, too.
#[test]
fn a_cut_line_of_cargo_is_never_complete() {
    let text = sample(Format::Cargo);
    let last_lines = text.trim_end().rmatch_indices('\n').nth(1).expect("there are several").0;
    for cut in last_lines..text.trim_end().len() {
        let report =
            read(Format::Cargo, &text.as_bytes()[..cut], ToolExit::Completed).expect("messages before are read");
        assert_eq!((report.findings.len(), report.coverage), (5, None), "cut at {cut}");
    }
}

#[test]
fn what_was_read_before_the_cut_is_kept_where_records_stand_alone() {
    let kept = [(Format::Checkstyle, "</file>"), (Format::Cargo, "\n"), (Format::Rdjsonl, "\n")];
    for (format, end) in kept {
        let text = sample(format);
        let cut = text.find(end).expect("there is one") + end.len();
        let report = read(format, &text.as_bytes()[..cut], ToolExit::Unknown).expect("it can be read");
        assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Findings, None), "{format}");
        assert!(report.summary.contains("Not everything was read"), "{format}: {}", report.summary);
    }
}

#[test]
fn a_cut_document_is_refused() {
    for format in [Format::Referee, Format::Sarif, Format::Rdjson, Format::Gitlab] {
        let text = sample(format);
        let error = read(format, &text.as_bytes()[..text.len() / 2], ToolExit::Completed).expect_err("it is cut");
        assert!(matches!(error, FormatError::Truncated { .. }), "{format}: {error}");
    }
}

#[test]
fn an_empty_report_has_failed() {
    for format in Format::ALL {
        for text in ["", "\n", " \n\t\n", "\u{feff}"] {
            let report = read(format, text.as_bytes(), ToolExit::Completed).expect("nothing is wrong with nothing");
            assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Failed, None), "{format}");
            assert_eq!(report.reason, "the report is empty");
        }
    }
}

#[test]
fn a_report_of_100_mb_is_not_read() {
    let bytes = vec![b' '; MAX_REPORT_BYTES];
    for format in Format::ALL {
        let error = read(format, &bytes, ToolExit::Completed).expect_err("it is too large");
        assert_eq!(error, FormatError::TooLarge { bytes: MAX_REPORT_BYTES });
        assert_eq!(error.to_string(), "the report was not read: it has 100 MB, and 100 MB is too much");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        for format in Format::ALL {
            let _ = read(format, &bytes, ToolExit::Completed);
        }
    }

    #[test]
    fn a_sample_with_a_wound_is_read_or_refused(at in any::<prop::sample::Index>(), wound in vec(any::<u8>(), 0..6)) {
        for (format, text) in SAMPLES {
            let at = at.index(text.len());
            let bytes = [&text.as_bytes()[..at], &wound, &text.as_bytes()[(at + 3).min(text.len())..]].concat();
            let _ = read(format, &bytes, ToolExit::Completed);
        }
    }
}

fn is_incomplete(read: &Result<Submission, FormatError>) -> bool {
    read.as_ref().map_or(true, |report| report.coverage.is_none())
}

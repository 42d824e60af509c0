use proptest::prelude::*;

use super::*;

#[test]
fn texts_round_trip() {
    for (text, field) in [
        ("security", "security"),
        ("", ""),
        ("-", "%2d"),
        ("a--b", "a-%2db"),
        ("won't fix, 10 % <b>", "won%27t+fix%2c+10+%25+%3cb%3e"),
        ("0123456789abcdef", "*ASNFZ4mrze8"),
        ("0123456789ABCDEF", "0123456789ABCDEF"),
        ("@bors r+", "%40bors+r%2b"),
        ("größe", "größe"),
    ] {
        assert_eq!(encode_text(text), field);
        assert_eq!(decode_text(field).as_deref(), Some(text));
    }
}

#[test]
fn lists_are_encoded_as_runs() {
    assert_eq!(encode_runs([3, 4, 5, 9, 1]), "3-5,9,1");
    assert_eq!(decode_runs("3-5,9,1"), Some(vec![3, 4, 5, 9, 1]));
    assert_eq!(decode_runs("0-18446744073709551615"), None, "too long a list");
    assert_eq!(decode_runs("5-3"), None);
}

proptest! {
    #[test]
    fn arbitrary_text_round_trips(text in "(?s).{0,80}|[a-f0-9]{10,70}|[a-c -]{0,20}") {
        let field = encode_text(&text);
        prop_assert!(!field.contains("--") && !field.contains([';', '|', ',', ' ', '<', '>', '\n', '@', '#']));
        prop_assert_eq!(encoded_len(&text), field.len());
        let read = decode_text(&field);
        prop_assert_eq!(read.as_deref(), Some(text.as_str()));
    }

    #[test]
    fn shortened_texts_fit_and_are_stable(text in "(?s).{0,80}|[0-9a-f]{10,140}", max in 20_usize..60) {
        let once = shorten(&text, max);
        prop_assert!(encode_text(&once).len() <= max, "{} > {max}", encode_text(&once).len());
        prop_assert_eq!(&shorten(&once, max), &once);
    }

    #[test]
    fn decoding_never_panics(field in "(?s).{0,40}") {
        let _ = (decode_text(&field), decode_runs(&field), decode_base64(&field));
    }

    #[test]
    fn truncated_lists_fit(ids in prop::collection::vec(0_u64..400, 0..300), max in 0_usize..200) {
        let fit = count_fitting_numbers(&ids, max);
        prop_assert!(encode_runs(ids[..fit].iter().copied()).len() <= max);
        let read = decode_runs(&encode_runs(ids.iter().copied()));
        prop_assert_eq!(read, Some(ids));
    }
}

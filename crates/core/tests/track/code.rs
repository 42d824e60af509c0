use proptest::prelude::*;
use referee_core::track::{AnchorHash, Fingerprint, count_lines, extract_lines, normalise_title, title_similarity};

use crate::texts::text;

#[test]
fn the_name_of_code_is_blind_to_indentation_and_wrapping() {
    let one = AnchorHash::from_code("    call(one, two);\n");
    assert_eq!(one, AnchorHash::from_code("call(\r\n\tone,\r\n\ttwo,\r\n);\r\n"));
    assert_ne!(one, AnchorHash::from_code("call(one, three);\n"));
    assert_eq!(one.0.len(), 16);
}

// spec: INC-9 @core
#[test]
fn a_fingerprint_is_made_of_role_concern_and_code() {
    let name = |role, rule, title, code| Fingerprint::from_finding(role, rule, title, code);
    let plain = name("security", None, "Token is logged", "log(token);");
    assert_eq!(plain, name("security", None, "`Token` is  logged!", "  log( token );\n"), "wording and white space");
    assert_eq!(plain, name("security", None, "Token is logged (line 12)", "log(token);"), "never a line number");
    assert_ne!(plain, name("quality", None, "Token is logged", "log(token);"), "another role");
    assert_ne!(plain, name("security", None, "Token is stored", "log(token);"), "another concern");
    assert_ne!(plain, name("security", None, "Token is logged", "log(user);"), "other code");
    let ruled = name("security", Some("secret-log"), "Token is logged", "log(token);");
    assert_eq!(ruled, name("security", Some("secret-log"), "Credentials leak", "log(token);"), "a rule is the concern");
    assert_ne!(ruled, plain);
    assert_ne!(name("a", None, "b c", "d"), name("ab", None, "c", "d"), "parts do not run together");
    assert_eq!(plain.0.len(), 16);
}

#[test]
fn titles_are_compared_by_their_words() {
    assert_eq!(normalise_title("The `foo_bar` is NOT checked at line 12!"), "foo_bar not checked");
    assert_eq!(normalise_title("Unused, see lines 10-12 and L7"), "unused see");
    assert_eq!(normalise_title("It is"), "it is", "fillers alone are better than nothing");
    assert_eq!(normalise_title("  "), "");
    assert_eq!(normalise_title("令牌 written"), "令 牌 written");
}

#[test]
fn the_similarity_of_titles_counts_shared_words() {
    assert_eq!(title_similarity("Token is logged", "the token, LOGGED"), 1000);
    assert_eq!(title_similarity("token logged", "token stored"), 500);
    assert_eq!(title_similarity("token logged", "query slow"), 0);
    assert_eq!(title_similarity("", "query slow"), 0);
}

#[test]
fn anchored_lines_are_cut_at_the_end_of_the_text() {
    let text = "one\ntwo\r\nthree";
    assert_eq!(extract_lines(text, 1, 1), "one\n");
    assert_eq!(extract_lines(text, 2, 3), "two\r\nthree");
    assert_eq!(extract_lines(text, 3, u32::MAX), "three");
    assert_eq!(extract_lines(text, 4, 9), "");
    assert_eq!(extract_lines(text, 2, 1), "two\r\n", "an end before the start");
    assert_eq!(extract_lines(text, 0, 0), text);
    assert_eq!((count_lines(b"one\ntwo"), count_lines(b"one\n"), count_lines(b"")), (2, 1, 0));
}

proptest! {
    #[test]
    fn anchored_lines_put_together_are_the_text(text in text()) {
        let lines = count_lines(text.as_bytes());
        let parts: String = (1..=lines).map(|line| extract_lines(&text, line, line)).collect();
        prop_assert_eq!(parts, text);
    }

    #[test]
    fn names_and_titles_are_total(one in any::<String>(), other in any::<String>(), line in any::<u32>(), end in any::<u32>()) {
        let normal = normalise_title(&one);
        prop_assert_eq!(normalise_title(&normal), normal, "normalising twice is normalising once");
        prop_assert_eq!(title_similarity(&one, &other), title_similarity(&other, &one));
        prop_assert!(title_similarity(&one, &other) <= 1000);
        prop_assert!(one.contains(extract_lines(&one, line, end)));
        prop_assert_eq!(Fingerprint::from_finding(&one, None, &other, &one).0.len(), 16);
    }
}

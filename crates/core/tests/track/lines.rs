use proptest::prelude::*;
use referee_core::track::LineMap;

use crate::texts::{count, edited, text};

#[test]
fn a_line_is_mapped_past_inserted_lines() {
    let map = LineMap::from_exact_diff("one\ntwo\nthree\n", "zero\none\nthree\nfour\n");
    assert_eq!(map.to_new_line(1), Some(2));
    assert_eq!(map.to_new_line(2), None);
    assert_eq!(map.to_new_line(3), Some(3));
    assert_eq!(map.to_old_line(1), None);
    assert_eq!(map.to_old_line(3), Some(3));
    assert_eq!((map.to_new_line(0), map.to_new_line(4)), (None, None), "there is no such line");
}

#[test]
fn the_loose_map_ignores_indentation() {
    let (old, new) = ("if a {\n    b();\n}\n", "if a {\n\tb( );\n}\n");
    assert_eq!(LineMap::from_exact_diff(old, new).to_new_line(2), None);
    assert_eq!(LineMap::from_loose_diff(old, new).to_new_line(2), Some(2));
}

#[test]
fn the_exact_map_sees_a_missing_final_line_feed() {
    assert_eq!(LineMap::from_exact_diff("a\nb\n", "a\nb").to_new_line(2), None);
    assert_eq!(LineMap::from_loose_diff("a\nb\n", "a\nb").to_new_line(2), Some(2));
}

/// Without a bound this test takes longer than all other tests together.
#[test]
fn large_data_is_mapped_by_its_ends() {
    let noise =
        |seed: usize| (0..30_000).map(move |line| if (line * line + seed * line) % 7 < 3 { "0\n" } else { "1\n" });
    let old: String = ["first\n"].into_iter().chain(noise(1)).chain(["last\n"]).collect();
    let new: String = ["first\n"].into_iter().chain(noise(4)).chain(["more\n", "last\n"]).collect();
    let map = LineMap::from_exact_diff(&old, &new);
    assert_eq!((map.to_new_line(1), map.to_new_line(30_002)), (Some(1), Some(30_003)));
    assert_eq!((map.changes().len(), map.to_new_line(20_000)), (1, None));
    let itself = LineMap::from_exact_diff(&old, &old);
    assert!(itself.changes().is_empty());
}

proptest! {
    #[test]
    fn a_text_is_mapped_onto_itself(text in text()) {
        for map in [LineMap::from_exact_diff(&text, &text), LineMap::from_loose_diff(&text, &text)] {
            prop_assert!(map.changes().is_empty());
            for line in 1..=count(&text) {
                prop_assert_eq!(map.to_new_line(line), Some(line));
                prop_assert_eq!(map.to_old_line(line), Some(line));
            }
        }
    }

    #[test]
    fn the_map_is_monotone_and_has_an_inverse((old, new) in edited()) {
        let map = LineMap::from_exact_diff(&old, &new);
        let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let mut last = 0;
        for line in 1..=count(&old) {
            let Some(there) = map.to_new_line(line) else { continue };
            prop_assert!(there > last);
            last = there;
            prop_assert_eq!(map.to_old_line(there), Some(line));
            prop_assert_eq!(old_lines[line as usize - 1], new_lines[there as usize - 1]);
        }
        for line in 1..=count(&new) {
            if let Some(there) = map.to_old_line(line) {
                prop_assert_eq!(map.to_new_line(there), Some(line));
            }
        }
    }

    #[test]
    fn the_changes_are_exactly_the_lines_without_a_counterpart((old, new) in edited()) {
        let map = LineMap::from_loose_diff(&old, &new);
        for line in 1..=count(&old) {
            let changed = map.changes().iter().any(|change| change.old.contains(&line));
            prop_assert_eq!(changed, map.to_new_line(line).is_none());
        }
        for line in 1..=count(&new) {
            let changed = map.changes().iter().any(|change| change.new.contains(&line));
            prop_assert_eq!(changed, map.to_old_line(line).is_none());
        }
    }

    #[test]
    fn any_two_strings_have_a_map(old in any::<String>(), new in any::<String>(), line in any::<u32>()) {
        for map in [LineMap::from_exact_diff(&old, &new), LineMap::from_loose_diff(&old, &new)] {
            prop_assert!(map.to_new_line(line).is_none_or(|there| there <= count(&new)));
            prop_assert!(map.to_old_line(line).is_none_or(|there| there <= count(&old)));
        }
    }
}

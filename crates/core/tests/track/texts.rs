//! Generated texts.

use proptest::prelude::*;

/// A text of few different lines, so that lines repeat, with every kind of line end and often none at the end.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(""),
        Just("}"),
        Just("    }"),
        Just("let a = compute(one, two);"),
        Just("        let a = compute(one, two);"),
        Just("return None;"),
        Just("if ready { go(); }"),
        Just("größe = länge(日本語)"),
        Just("call("),
        Just("    one,"),
        Just(")"),
    ];
    let end = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let ended = (line.clone(), end).prop_map(|(line, end)| format!("{line}{end}"));
    (prop::collection::vec(ended, 0..24), prop::option::of(line))
        .prop_map(|(lines, last)| lines.concat() + last.unwrap_or_default())
}

/// A text and an edited version of it.
pub(crate) fn edited() -> impl Strategy<Value = (String, String)> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..5_usize, text()), 0..4);
    (text(), edits).prop_map(|(old, edits)| {
        let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
        for (at, what, other) in edits {
            let at = at.index(lines.len() + 1);
            match (what, lines.get_mut(at)) {
                (0, Some(_)) => drop(lines.remove(at)),
                (1, Some(line)) => line.insert_str(0, "  "),
                (2, Some(line)) => line.insert_str(0, "not_"),
                (3, Some(_)) => {
                    let line = lines.remove(at);
                    lines.push(line);
                }
                _ => drop(lines.splice(at..at, other.split_inclusive('\n').map(str::to_owned))),
            }
        }
        (old, lines.concat())
    })
}

pub(crate) fn count(text: &str) -> u32 {
    text.split_inclusive('\n').count() as u32
}

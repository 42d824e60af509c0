//! A rule's fix as the lines that would stand there.

use std::ops::RangeInclusive;

use super::language_rule::{LanguageRule, RuleMatch};
use super::line_index::LineIndex;

/// A longer one is read as code, not taken with a click.
const MAX_SUGGESTION_LINES: u32 = 5;

/// What would take the place of `lines`, if the rule has one fix and it stays inside them.
pub(super) fn build_suggestion(
    rule: &LanguageRule,
    hit: &RuleMatch<'_>,
    lines: &RangeInclusive<u32>,
    text: &str,
    index: &LineIndex<'_>,
) -> Option<String> {
    let [fixer] = rule.fixer.as_slice() else { return None };
    if lines.end() - lines.start() >= MAX_SUGGESTION_LINES {
        return None;
    }
    let edit = hit.make_edit(&rule.matcher, fixer);
    let (from, to) = (edit.position, edit.position + edit.deleted_length);
    let whole = index.byte_range(lines);
    if from < whole.start || to > whole.end {
        return None;
    }
    let middle = String::from_utf8(edit.inserted_text).ok()?;
    let after = text.get(to..whole.end)?.trim_end_matches(['\r', '\n']);
    Some(format!("{}{middle}{after}", text.get(whole.start..from)?))
}

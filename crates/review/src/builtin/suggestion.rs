//! Turns the fix of a rule into a suggestion of whole lines.

use std::ops::RangeInclusive;

use super::language_rule::{LanguageRule, RuleMatch};
use super::line_index::LineIndex;

/// Longer fixes are not offered: nobody reviews them before the click.
const MAX_SUGGESTION_LINES: u32 = 5;

/// Returns the replacement of `lines`, if the rule has exactly one fix and it stays within them.
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
    let (start, end) = (edit.position, edit.position + edit.deleted_length);
    let whole = index.byte_range(lines);
    if start < whole.start || end > whole.end {
        return None;
    }
    let inserted = String::from_utf8(edit.inserted_text).ok()?;
    let after = text.get(end..whole.end)?.trim_end_matches(['\r', '\n']);
    Some(format!("{}{inserted}{after}", text.get(whole.start..start)?))
}

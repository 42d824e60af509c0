//! A tool's message as a title and a body. Both stay raw: what is posted is sanitised by the core.

/// In characters.
const MAX_TITLE_CHARS: usize = 120;

/// The first line, and the rest. A first line that is too long for a title is in the body as well.
pub(super) fn split_title_and_body(message: &str) -> (String, String) {
    let message = message.trim();
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let first = first.trim_end();
    if first.chars().count() <= MAX_TITLE_CHARS {
        return (first.to_owned(), rest.trim().to_owned());
    }
    let title: String = first.chars().take(MAX_TITLE_CHARS - 1).chain(['…']).collect();
    (title, message.to_owned())
}

//! Splits the message of a tool into a title and a body. Both stay raw: the core sanitises what is posted.

/// Texts on a pull show fewer characters in a table, and this many in a thread.
const MAX_TITLE_CHARS: usize = 1_000;

/// Returns the first line as the title and the rest as the body. A first line that is too long for a title is cut, and the
/// body then holds the whole message.
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

//! Parses links, URLs, tags and entities.

use super::lexicon::is_html_element;

/// Maximum length of a link's destination.
const MAX_URL_BYTES: usize = 2_048;

/// A link or image: `[text](url "title")`.
pub(super) struct MarkdownLink<'a> {
    pub(super) text: &'a str,
    /// `None` if it is neither a web page nor a path.
    pub(super) url: Option<&'a str>,
    /// Length of the whole link, in bytes.
    pub(super) length: usize,
}

impl<'a> MarkdownLink<'a> {
    /// Parses a link at the start of a text, which begins with `[`. Returns `None` if the link's text contains
    /// brackets.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let inside = text.get(1..)?;
        let end = inside.find(['[', ']'])?;
        let tail = inside.get(end..)?.strip_prefix("](")?;
        let tail = tail.get(..tail.floor_char_boundary(MAX_URL_BYTES))?;
        let start = tail.trim_start();
        let (url, after) = match start.strip_prefix('<') {
            Some(angled) => angled.split_once('>')?,
            None => start.split_at(find_bare_url_end(start)),
        };
        let close = find_link_end(after)?;
        let length = 1 + end + 2 + (tail.len() - after.len()) + close;
        Some(Self { text: inside.get(..end)?, url: Some(url).filter(|url| is_showable_url(url)), length })
    }
}

/// Returns the end of a URL without angle brackets: a space, or an unbalanced parenthesis.
fn find_bare_url_end(text: &str) -> usize {
    let mut open = 0_usize;
    let end = text.find(|c: char| match c {
        '(' => {
            open += 1;
            false
        }
        ')' if open == 0 => true,
        ')' => {
            open -= 1;
            false
        }
        c => c.is_whitespace() || matches!(c, '<' | '[' | ']'),
    });
    end.unwrap_or(text.len())
}

/// Returns the position after the closing parenthesis, which may follow a title.
fn find_link_end(after: &str) -> Option<usize> {
    let body = after.trim_start();
    let quote = body.chars().next()?;
    let rest = match quote {
        ')' => body,
        '"' | '\'' => body.get(1..)?.split_once(quote)?.1.trim_start(),
        _ => return None,
    };
    rest.strip_prefix(')').map(|tail| after.len() - tail.len())
}

/// Returns whether a URL is a web page or a path. Other schemes are not shown.
fn is_showable_url(url: &str) -> bool {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let is_page = lower.starts_with("https://") || lower.starts_with("http://");
    is_page || !(url.is_empty() || url.starts_with('#') || url.contains(':') || url.starts_with("//"))
}

/// Returns the length of a bare URL: up to a space, without trailing punctuation of the sentence.
pub(super) fn url_length(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '|')).unwrap_or(text.len());
    let mut url = text.get(..end).unwrap_or_default();
    while let Some(last) = url.chars().next_back() {
        let is_unbalanced = last == ')' && url.matches(')').count() > url.matches('(').count();
        if !(is_unbalanced
            || matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~' | '\'' | ']' | '}' | '\\'))
        {
            break;
        }
        url = url.get(..url.len() - last.len_utf8()).unwrap_or_default();
    }
    url.len()
}

/// The token that a `<` starts.
pub(super) enum AngleToken<'a> {
    /// An HTML tag or comment with its length in bytes. It is dropped.
    Markup(usize),
    /// A URL in angle brackets.
    Autolink(&'a str),
    Literal,
}

pub(super) fn parse_angle(text: &str) -> AngleToken<'_> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return comment
            .find("-->")
            .map_or(AngleToken::Literal, |end| AngleToken::Markup("<!--".len() + end + "-->".len()));
    }
    let inside = text.get(1..).unwrap_or_default();
    let Some(end) = inside.find(['<', '>']).filter(|end| inside.as_bytes().get(*end) == Some(&b'>')) else {
        return AngleToken::Literal;
    };
    let body = inside.get(..end).unwrap_or_default();
    if !body.contains(char::is_whitespace)
        && (body.contains("://") || body.contains('@') || body.starts_with("mailto:"))
    {
        return AngleToken::Autolink(body);
    }
    let name = body.strip_prefix('/').unwrap_or(body);
    let length = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let (name, attributes) = name.split_at(length);
    let is_complete = attributes.chars().next().is_none_or(|c| c.is_whitespace() || c == '/');
    if is_complete && is_html_element(name) { AngleToken::Markup(end + 2) } else { AngleToken::Literal }
}

/// The token that an `&` starts.
pub(super) enum AmpersandToken {
    /// `&lt;`, `&gt;`, `&amp;` or `&quot;` with its length in bytes. It is kept.
    BasicEntity(usize),
    /// Any other entity. It is escaped.
    OtherEntity,
    Literal,
}

pub(super) fn parse_ampersand(text: &str) -> AmpersandToken {
    for entity in ["&lt;", "&gt;", "&amp;", "&quot;"] {
        if text.starts_with(entity) {
            return AmpersandToken::BasicEntity(entity.len());
        }
    }
    let body = text.get(1..).unwrap_or_default();
    let length = body.bytes().take(32).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    // Markdown parsers remove a backslash before the semicolon, but not every HTML parser sees it.
    let end = body.get(length..).unwrap_or_default().trim_start_matches('\\');
    if length > 0 && end.starts_with(';') { AmpersandToken::OtherEntity } else { AmpersandToken::Literal }
}

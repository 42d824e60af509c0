//! Links, addresses and tags: where they end, and what of them is shown.

use super::lexicon::is_html_element;

/// The longest address of a link that is looked for.
const MAX_URL_BYTES: usize = 2_048;

/// A link or image: `[text](address "title")`.
pub(super) struct MarkdownLink<'a> {
    pub(super) text: &'a str,
    /// Shown in code; `None` where it leads neither to a page nor to a path.
    pub(super) url: Option<&'a str>,
    /// How many bytes it takes.
    pub(super) length: usize,
}

impl<'a> MarkdownLink<'a> {
    /// The link at the start of a text that begins with `[`. One whose text has brackets is none: it is taken apart.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let inside = text.get(1..)?;
        let end = inside.find(['[', ']'])?;
        let tail = inside.get(end..)?.strip_prefix("](")?;
        let tail = tail.get(..tail.floor_char_boundary(MAX_URL_BYTES))?;
        let start = tail.trim_start();
        let (address, after) = match start.strip_prefix('<') {
            Some(angled) => angled.split_once('>')?,
            None => start.split_at(find_bare_url_end(start)),
        };
        let close = find_link_end(after)?;
        let length = 1 + end + 2 + (tail.len() - after.len()) + close;
        Some(Self { text: inside.get(..end)?, url: Some(address).filter(|it| is_showable_url(it)), length })
    }
}

/// Where an address without angle brackets ends: at a blank, or at the parenthesis that was not opened in it.
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

/// Where the closing parenthesis ends, behind an optional title.
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

/// Pages and paths are worth showing; anything else with a scheme is not.
fn is_showable_url(address: &str) -> bool {
    let lower = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let page = lower.starts_with("https://") || lower.starts_with("http://");
    page || !(address.is_empty() || address.starts_with('#') || address.contains(':') || address.starts_with("//"))
}

/// How long an address in prose is: up to a blank, without the punctuation of the sentence around it.
pub(super) fn url_length(text: &str) -> usize {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '|')).unwrap_or(text.len());
    let address = text.get(..end).unwrap_or_default();
    let mut kept = address;
    while let Some(last) = kept.chars().next_back() {
        let parenthesis = last == ')' && kept.matches(')').count() > kept.matches('(').count();
        if !(parenthesis
            || matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~' | '\'' | ']' | '}' | '\\'))
        {
            break;
        }
        kept = kept.get(..kept.len() - last.len_utf8()).unwrap_or_default();
    }
    kept.len()
}

/// What a `<` begins.
pub(super) enum AngleToken<'a> {
    /// A tag or a hidden comment of so many bytes: dropped.
    Markup(usize),
    /// An address in angle brackets.
    Autolink(&'a str),
    /// Nothing: it is shown.
    Literal,
}

/// What the `<` at the start of a text begins.
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
    let ends = attributes.chars().next().is_none_or(|c| c.is_whitespace() || c == '/');
    if ends && is_html_element(name) { AngleToken::Markup(end + 2) } else { AngleToken::Literal }
}

/// What an `&` begins.
pub(super) enum AmpersandToken {
    /// One of the four that show a sign of HTML: of so many bytes, kept.
    BasicEntity(usize),
    /// Any other entity: shown as it was typed.
    OtherEntity,
    /// Nothing.
    Literal,
}

/// What the `&` at the start of a text begins.
pub(super) fn parse_ampersand(text: &str) -> AmpersandToken {
    for kept in ["&lt;", "&gt;", "&amp;", "&quot;"] {
        if text.starts_with(kept) {
            return AmpersandToken::BasicEntity(kept.len());
        }
    }
    let body = text.get(1..).unwrap_or_default();
    let length = body.bytes().take(32).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    // A backslash in front of the semicolon is for a reader of Markdown, and not for every reader of HTML.
    let end = body.get(length..).unwrap_or_default().trim_start_matches('\\');
    if length > 0 && end.starts_with(';') { AmpersandToken::OtherEntity } else { AmpersandToken::Literal }
}

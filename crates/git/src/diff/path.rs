//! Quoting of paths in a patch.

/// Unquotes a path as it appears after `rename from ` or in a `---` line.
///
/// A path that is not UTF-8 stays quoted, as forges show it. No other file has that name.
pub(super) fn unquote_path(name: &[u8]) -> String {
    let plain = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let Some(inner) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else { return plain(name) };
    match unescape(inner).and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(name) => name,
        None => plain(name),
    }
}

/// Quotes a path that is not UTF-8 as git does.
pub(super) fn quote_path(name: &[u8]) -> String {
    let escaped = name.iter().map(|byte| match ESCAPES.iter().find(|(_, escaped)| escaped == byte) {
        Some((letter, _)) => format!("\\{}", char::from(*letter)),
        None if matches!(byte, b' '..=b'~') => char::from(*byte).to_string(),
        None => format!("\\{byte:03o}"),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The letter after a backslash, and the byte it stands for.
const ESCAPES: &[(u8, u8)] = &[
    (b'a', 0x07),
    (b'b', 0x08),
    (b't', b'\t'),
    (b'n', b'\n'),
    (b'v', 0x0b),
    (b'f', 0x0c),
    (b'r', b'\r'),
    (b'"', b'"'),
    (b'\\', b'\\'),
];

/// Parses the path of a `diff --git` line without `a/` and `b/`. Unquoted paths may contain spaces, so the line is
/// split in the middle.
///
/// Needed only if no other line names the file. In that case both paths are the same.
pub(super) fn parse_git_header_path(names: &[u8]) -> Option<String> {
    let (old, new) = if names.ends_with(b"\"") {
        let start = find_quote_start(names)?;
        (names.get(..start.checked_sub(1)?)?, names.get(start..)?)
    } else {
        let middle = names.len().checked_sub(1)? / 2;
        (names.get(..middle)?, names.get(middle + 1..)?)
    };
    let old = parse_side_path(old, b"a/")?;
    let new = parse_side_path(new, b"b/")?;
    (old == new).then_some(new)
}

/// Parses the path of a `---` or `+++` line without its prefix. Returns `None` for `/dev/null`.
pub(super) fn parse_side_path(name: &[u8], prefix: &[u8]) -> Option<String> {
    // Git appends a tab to a path with spaces, so that other patch programs find its end.
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    let quoted = name.first() == Some(&b'"');
    if !quoted {
        return name.strip_prefix(prefix).map(unquote_path);
    }
    let inner = name.get(1..)?.strip_prefix(prefix)?;
    Some(unquote_path(&[b"\"", inner].concat()))
}

/// Returns the position of the last unescaped quote before the final one.
fn find_quote_start(names: &[u8]) -> Option<usize> {
    let inner = names.get(..names.len().checked_sub(1)?)?;
    let quotes = (0..inner.len()).rev().filter(|at| inner[*at] == b'"');
    quotes.into_iter().find(|at| {
        let escapes = inner[..*at].iter().rev().take_while(|byte| **byte == b'\\').count();
        escapes % 2 == 0
    })
}

fn unescape(inner: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let letter = rest.next()?;
        let plain = ESCAPES.iter().find(|(escape, _)| *escape == letter).map(|(_, byte)| *byte);
        bytes.push(match plain {
            Some(byte) => byte,
            None => {
                let digit = |byte: u8| byte.checked_sub(b'0').filter(|digit| *digit < 8);
                let (high, middle, low) = (digit(letter)?, digit(rest.next()?)?, digit(rest.next()?)?);
                (high < 4).then_some(high * 64 + middle * 8 + low)?
            }
        });
    }
    Some(bytes)
}

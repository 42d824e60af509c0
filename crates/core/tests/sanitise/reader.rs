//! Parses a text as forges and bots do, independent of the sanitiser: whatever it finds would have an effect.

const BOTS: [&str; 8] = ["bors", "dependabot", "claude", "rustbot", "mergifyio", "coderabbitai", "homu", "copilot"];
const BARE: [&str; 6] = ["bors", "recheck", "reverify", "retest", "jenkins", "r?"];
const MEMORY: [&str; 4] = ["referee:mark", "referee:block", "referee:tag", "review-bot:"];

/// Everything in a text that would have an effect.
pub(crate) fn dangers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |what: &str, where_: &str| found.push(format!("{what}: {where_}"));
    let lower = text.to_lowercase();
    for memory in MEMORY {
        if lower.contains(memory) {
            note("memory", memory);
        }
    }
    for bot in BOTS {
        if lower.contains(&format!("@{bot}")) {
            note("bot", bot);
        }
    }
    if let Some(c) = text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || is_hidden(*c)) {
        note("hidden", &format!("{:?}", c));
    }
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.split('\n') {
        if line.starts_with("```") && (fenced || !line.trim_start_matches('`').contains('`')) {
            if fenced && line.trim_end() != "```" {
                note("fence", line);
            }
            fenced = !fenced;
            prose.push_str("\n\n");
            continue;
        }
        if order(line, fenced) {
            note("order", line);
        }
        let start = without_marks(line).to_lowercase();
        let word_ends = |word: &str| start.as_bytes().get(word.len()).is_none_or(|b| !b.is_ascii_alphanumeric());
        if !fenced && BARE.iter().any(|word| start.starts_with(word) && word_ends(word)) {
            note("bare order", line);
        }
        let row = line.trim_start_matches([' ', '>']);
        if !fenced && row.contains('|') && row.contains('-') && row.chars().all(|c| "|-: ".contains(c)) {
            note("table", line);
        }
        if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    if fenced {
        note("fence", "not closed");
    }
    for paragraph in prose.split("\n\n") {
        let live = without_code(paragraph);
        for (what, place) in references(&live) {
            note(what, &place);
        }
    }
    found
}

/// A line without the marks of lists, quotes and headings.
fn without_marks(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| " \t>-*+#".contains(c));
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(rest) if rest.len() < line.len() - 1 => without_marks(rest),
        _ => line,
    }
}

/// Returns whether a line is a quick action; in a code block only one that stands alone.
fn order(line: &str, fenced: bool) -> bool {
    let start = if fenced { line.trim_start() } else { without_marks(line) };
    let Some(word) = start.strip_prefix('/') else { return false };
    if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return false;
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    !fenced || rest.is_empty() || rest.starts_with([' ', '\t'])
}

/// Code spans are removed over the whole paragraph, as CommonMark pairs them.
fn without_code(paragraph: &str) -> String {
    let chars: Vec<char> = paragraph.chars().collect();
    let run = |at: usize| chars[at..].iter().take_while(|c| **c == '`').count();
    let mut live = String::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '\\' && chars.get(at + 1).is_some_and(char::is_ascii_punctuation) {
            // An escaped bracket makes no link; forges ignore any other escape.
            live.push(if "[]()!:|".contains(chars[at + 1]) { ' ' } else { chars[at + 1] });
            at += 2;
        } else if chars[at] == '`' {
            let length = run(at);
            let mut close = at + length;
            while close < chars.len() && !(chars[close] == '`' && run(close) == length) {
                close += run(close).max(1);
            }
            if close < chars.len() {
                live.push('\u{1}');
                at = close + length;
            } else {
                live.push_str(&"`".repeat(length));
                at += length;
            }
        } else {
            live.push(chars[at]);
            at += 1;
        }
    }
    live
}

/// Returns what a forge would link, mention or render.
fn references(live: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let lower = live.to_lowercase();
    if live.contains('<') {
        found.push(("html", live.to_owned()));
    }
    if live.contains('`') {
        found.push(("backtick", live.to_owned()));
    }
    for sign in ["](", "][", "]:", "![", "[["] {
        if live.contains(sign) {
            found.push(("link", live.to_owned()));
        }
    }
    if lower.contains("://")
        && lower.split("://").next().is_some_and(|it| it.ends_with(|c: char| c.is_ascii_alphanumeric()))
    {
        found.push(("address", live.to_owned()));
    }
    let chars: Vec<char> = live.chars().collect();
    for pair in chars.windows(2) {
        match pair {
            ['@', next] if next.is_ascii_alphanumeric() || *next == '_' => found.push(("mention", live.to_owned())),
            ['#' | '!', next] if next.is_ascii_digit() => found.push(("reference", live.to_owned())),
            _ => {}
        }
    }
    for word in live.split(|c: char| !c.is_ascii_alphanumeric()) {
        let hex = word.chars().all(|c| c.is_ascii_hexdigit()) && word.chars().any(|c| c.is_ascii_digit());
        if hex && word.len() >= 7 {
            found.push(("commit", word.to_owned()));
        }
    }
    for entity in live.split('&').skip(1) {
        let name = entity.split(';').next().unwrap_or_default();
        let is_entity =
            entity.contains(';') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#');
        if is_entity && !["lt", "gt", "amp", "quot"].contains(&name) {
            found.push(("entity", name.to_owned()));
        }
    }
    found
}

fn is_hidden(c: char) -> bool {
    matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x2800 | 0xfe00..=0xfe0f | 0xfeff | 0xe0000..=0xe0fff)
}

//! Imitations of formatters that keep the origin of every row.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::origin_text::{OriginRow, OriginText, render_text};
use crate::random::Random;

/// Reformats a text: other indentation, and one of wrapping, joining and brace placement.
pub(crate) fn reformat(origin_text: &OriginText, path: &str, random: &mut Random) -> OriginText {
    let unit = random.pick(&["  ", "\t", "        "]).to_string();
    let indented: OriginText =
        origin_text.iter().map(|row| OriginRow { text: reindent(&row.text, &unit), ..row.clone() }).collect();
    let widths = [40, 60, 80];
    let formatted = match random.below(3) {
        0 => wrap_arguments(&indented, &unit, *random.pick(&widths)),
        1 => join_calls(&indented),
        _ if path.ends_with(".py") => wrap_arguments(&indented, &unit, *random.pick(&widths)),
        _ => move_braces(&indented),
    };
    if !random.chance(20) {
        return formatted;
    }
    formatted.into_iter().map(|row| OriginRow { text: row.text + "\r", ..row }).collect()
}

/// Runs rustfmt with another width and indentation. A comment in front of each wanted row records its origin and is removed
/// afterwards. Returns `None` if rustfmt rejects the file.
pub(crate) fn rustfmt(origin_text: &OriginText, wanted: &[usize], random: &mut Random) -> Option<OriginText> {
    const STYLES: &[&str] = &[
        "max_width=60,tab_spaces=2",
        "max_width=80,hard_tabs=true",
        "max_width=160,use_small_heuristics=Max",
        "max_width=72,use_small_heuristics=Off",
    ];
    let marked: OriginText = origin_text
        .iter()
        .map(|row| match row.origins.iter().find(|origin| wanted.contains(origin)) {
            Some(origin) => {
                let body = row.text.trim_start();
                let indent = &row.text[..row.text.len() - body.len()];
                OriginRow { text: format!("{indent}/*@{origin}@*/ {body}"), origins: Vec::new() }
            }
            None => row.clone(),
        })
        .collect();
    let mut child = Command::new("rustfmt")
        .args(["--edition=2021", "--quiet", "--config", *random.pick(STYLES)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let input = render_text(&marked);
    let mut stdin = child.stdin.take()?;
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    if !output.status.success() {
        return None;
    }
    Some(strip_marks(&String::from_utf8(output.stdout).ok()?))
}

fn strip_marks(text: &str) -> OriginText {
    let mut origin_text = OriginText::new();
    let mut waiting = Vec::new();
    for line in text.lines() {
        let mut line = line.to_owned();
        let mut origins = std::mem::take(&mut waiting);
        while let Some(start) = line.find("/*@")
            && let Some(end) = line[start..].find("@*/").map(|end| start + end)
            && let Ok(origin) = line[start + 3..end].parse()
        {
            origins.push(origin);
            let after = line[end + 3..].trim_start().to_owned();
            line.truncate(start);
            line += &after;
        }
        if line.trim().is_empty() && !origins.is_empty() {
            waiting = origins;
        } else {
            origin_text.push(OriginRow { text: line, origins });
        }
    }
    origin_text
}

fn reindent(text: &str, unit: &str) -> String {
    let body = text.trim_start();
    let indent = &text[..text.len() - body.len()];
    let columns: usize = indent.chars().map(|letter| if letter == '\t' { 4 } else { 1 }).sum();
    unit.repeat(columns / 4) + &" ".repeat(columns % 4) + body
}

/// Puts each argument of a long call on its own line, with a trailing comma.
fn wrap_arguments(origin_text: &OriginText, unit: &str, width: usize) -> OriginText {
    let mut wrapped = OriginText::new();
    for row in origin_text {
        match split_call(&row.text).filter(|_| row.text.len() > width && !is_comment(&row.text)) {
            Some((head, arguments, tail)) => {
                let indent: String = row.text.chars().take_while(|letter| letter.is_whitespace()).collect();
                wrapped.push(OriginRow { text: head, ..row.clone() });
                for argument in arguments {
                    wrapped.push(OriginRow { text: format!("{indent}{unit}{argument},"), ..row.clone() });
                }
                wrapped.push(OriginRow { text: format!("{indent}{tail}"), ..row.clone() });
            }
            None => wrapped.push(row.clone()),
        }
    }
    wrapped
}

/// Splits the first call that ends on its line into `head(`, the arguments and `)tail`. Strings are not split.
fn split_call(text: &str) -> Option<(String, Vec<String>, String)> {
    let open = text.find('(')?;
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let mut starts = vec![open + 1];
    let mut arguments = Vec::new();
    for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ',' if depth == 1 => {
                arguments.push(text[*starts.last()?..at].trim().to_owned());
                starts.push(at + 1);
            }
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    arguments.push(text[*starts.last()?..at].trim().to_owned());
                    arguments.retain(|argument| !argument.is_empty());
                    let head = text[..=open].to_owned();
                    return (letter == ')' && !arguments.is_empty()).then(|| (head, arguments, text[at..].to_owned()));
                }
            }
            _ => {}
        }
    }
    None
}

/// Joins calls that span several lines.
fn join_calls(origin_text: &OriginText) -> OriginText {
    let mut joined = OriginText::new();
    let mut at = 0;
    while at < origin_text.len() {
        let end = closing_row(origin_text, at);
        match end {
            Some(end) => {
                let mut text = origin_text[at].text.trim_end().to_owned();
                let mut origins = origin_text[at].origins.clone();
                for row in &origin_text[at + 1..=end] {
                    let piece = row.text.trim();
                    if piece.starts_with([')', ']', '}']) && text.ends_with(',') {
                        text.pop();
                    }
                    if text.ends_with(',') {
                        text.push(' ');
                    }
                    text += piece;
                    origins.extend(&row.origins);
                }
                joined.push(OriginRow { text, origins });
                at = end + 1;
            }
            None => {
                joined.push(origin_text[at].clone());
                at += 1;
            }
        }
    }
    joined
}

/// Returns the row that closes the call opened at a row, if the call is short enough for one line.
fn closing_row(origin_text: &OriginText, open: usize) -> Option<usize> {
    let first = origin_text[open].text.trim_end();
    if !first.ends_with(['(', '[']) || is_comment(first) {
        return None;
    }
    let rows = origin_text[open + 1..].iter().take(8);
    let length = rows.clone().position(|row| row.text.trim_start().starts_with([')', ']']))?;
    let plain = rows.take(length + 1).all(|row| !row.text.contains("//") && !row.text.contains('#'));
    plain.then_some(open + 1 + length)
}

/// Puts each opening brace on its own line.
fn move_braces(origin_text: &OriginText) -> OriginText {
    let mut rows = OriginText::new();
    for row in origin_text {
        match row.text.trim_end().strip_suffix(" {") {
            Some(head) if !head.trim().is_empty() && !is_comment(head) => {
                let indent: String = head.chars().take_while(|letter| letter.is_whitespace()).collect();
                rows.push(OriginRow { text: head.to_owned(), ..row.clone() });
                rows.push(OriginRow { text: indent + "{", origins: Vec::new() });
            }
            _ => rows.push(row.clone()),
        }
    }
    rows
}

fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    ["//", "#", "*", "/*"].iter().any(|start| text.starts_with(start))
}

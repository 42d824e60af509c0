//! Extracts the prose of a comment: without quotes, code blocks and code spans; and splits it into sentences and words.

use std::borrow::Cow;

/// Returns the prose in lower case, with straight apostrophes, one sentence end per line.
pub(super) fn normalise_prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    for line in prose_lines(text) {
        prose.push_str(&strip_code_spans(line).to_lowercase().replace(['’', '‘'], "'").replace(" - ", " – "));
        prose.push('\n');
    }
    prose
}

/// Splits prose after the characters that end a sentence. The pieces add up to the prose.
pub(super) fn split_sentences(prose: &str) -> impl Iterator<Item = &str> {
    prose.split_inclusive(['.', '!', '?', ';', '\n'])
}

/// Splits a sentence into words. A comma stands for every mark that separates clauses.
pub(super) fn split_words(sentence: &str) -> Vec<&str> {
    let clauses = sentence.split_inclusive([',', ':', '(', ')', '–', '—', '"', '“', '”']);
    let mut words = Vec::new();
    for clause in clauses {
        let is_word = |word: &&str| !word.is_empty();
        let split = clause.split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.extend(split.map(|word| word.trim_matches('\'')).filter(is_word));
        if clause.ends_with(|c: char| !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, '.' | '!' | '?' | ';'))
        {
            words.push(",");
        }
    }
    words
}

/// Returns the lines outside quotes and fenced code blocks.
pub(super) fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<(char, usize)> = None;
    text.lines().filter(move |line| {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        match (fence, mark) {
            (Some((open, length)), _) => {
                let rest = line.trim_start_matches(open).trim();
                if mark == Some(open) && run >= length && rest.is_empty() {
                    fence = None;
                }
                false
            }
            (None, Some(mark)) if run >= 3 && (mark == '~' || !line.trim_start_matches('`').contains('`')) => {
                fence = Some((mark, run));
                false
            }
            (None, _) => !line.starts_with('>'),
        }
    })
}

/// Replaces code spans by a space.
pub(super) fn strip_code_spans(line: &str) -> Cow<'_, str> {
    if !line.contains('`') {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, code) = rest.split_at(start);
        kept.push_str(before);
        let run = code.len() - code.trim_start_matches('`').len();
        let body = code.get(run..).unwrap_or_default();
        match find_closing_backticks(body, run) {
            Some(end) => {
                kept.push(' ');
                rest = body.get(end..).unwrap_or_default();
            }
            None => rest = body,
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Returns the end of the code span: after a run of exactly `run` backticks.
fn find_closing_backticks(body: &str, run: usize) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + body.get(from..)?.find('`')?;
        let tail = body.get(start..)?;
        let length = tail.len() - tail.trim_start_matches('`').len();
        from = start + length;
        if length == run {
            return Some(from);
        }
    }
}

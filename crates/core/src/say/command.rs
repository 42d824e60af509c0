//! Parses commands (LOOP-12): the first line of a comment, addressed to referee.
//!
//! | command | effect |
//! |---|---|
//! | `review` | reviews what changed |
//! | `full review` | reviews everything |
//! | `explain` | explains the state of the pull |
//! | `dismiss F4 [role/F9 …] <reason>` | accepts these findings as they are |
//! | `dismiss overflow <reason>` | accepts the findings that fit nowhere on the pull (D33) |
//! | `reopen F4 …` | undoes a dismissal |
//! | `rounds +N`, N from 1 to 9 | allows more rounds |
//! | `retry` | runs a failed reviewer again |
//! | `pause`, `resume` | stops and resumes referee on this pull |
//! | `break-glass <reason>` | lifts all blocks of referee at this head |
//! | `help` | lists the commands |
//! | a verb without its argument | a hint that names the argument |
//! | anything else | a hint with the most similar verb |
//!
//! A verb without arguments may be followed by `please` and the like, but by nothing else: `review comments are noisy`
//! is not a command.

use super::{Ask, Missing, Named, find_nearest_word};
use crate::model::{FindingId, Login, RoleName};

/// How people address referee: `@<bot>`, and `/referee` unless the forge interprets a leading slash.
#[derive(Clone, Copy, Debug)]
pub struct CommandPrefixes<'a> {
    /// Accounts that people mention.
    pub bot_logins: &'a [Login],
    /// Whether the forge interprets a leading slash.
    pub slash_reserved: bool,
}

const MAX_REASON_CHARS: usize = 500;
const MAX_UNKNOWN_CHARS: usize = 40;
const MAX_ROUNDS: u32 = 9;
const MAX_FINDINGS: usize = 100;

const VERBS: [&str; 11] = [
    "review",
    "full review",
    "explain",
    "dismiss",
    "reopen",
    "rounds",
    "retry",
    "pause",
    "resume",
    "break-glass",
    "help",
];

/// Returns the command in the first line of a comment, if it is addressed to referee.
pub fn parse_command(text: &str, prefixes: &CommandPrefixes<'_>) -> Option<Ask> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let command = strip_address(line, prefixes)?;
    Some(parse_ask(command))
}

/// Returns the text after the address. `None` if the line is not addressed to referee, or is code or a quote.
fn strip_address<'a>(line: &'a str, prefixes: &CommandPrefixes<'_>) -> Option<&'a str> {
    let start = line.trim_start_matches(' ');
    if line.len() - start.len() > 3 {
        return None;
    }
    if let Some(mention) = start.strip_prefix('@') {
        let rest = mention.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let name = mention.strip_suffix(rest)?;
        let rest = rest.strip_prefix("[bot]").unwrap_or(rest);
        let is_bot = |bot: &Login| {
            let plain = bot.as_str().strip_suffix("[bot]").unwrap_or(bot.as_str());
            plain.eq_ignore_ascii_case(name)
        };
        let is_complete = rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ':'));
        let is_addressed = is_complete && prefixes.bot_logins.iter().any(is_bot);
        return is_addressed.then(|| rest.trim_start_matches([',', ':']).trim());
    }
    if prefixes.slash_reserved {
        return None;
    }
    let (head, rest) = start.split_at_checked("/referee".len())?;
    let is_complete = rest.chars().next().is_none_or(char::is_whitespace);
    (head.eq_ignore_ascii_case("/referee") && is_complete).then(|| rest.trim())
}

fn parse_ask(text: &str) -> Ask {
    let (first, rest) = split_word(text);
    let verb = first.to_ascii_lowercase();
    let without_arguments = |ask: Ask| if is_courtesy(rest) { ask } else { unknown_ask(text, Some(&verb)) };
    match verb.as_str() {
        "review" => without_arguments(Ask::Review),
        "full-review" => without_arguments(Ask::FullReview),
        "full" => match split_word(rest) {
            (second, rest) if second.eq_ignore_ascii_case("review") && is_courtesy(rest) => Ask::FullReview,
            _ => unknown_ask(text, None),
        },
        "explain" => without_arguments(Ask::Explain),
        "dismiss" if split_word(rest).0.eq_ignore_ascii_case("overflow") => match parse_reason(split_word(rest).1) {
            Some(reason) => Ask::DismissOverflow { reason },
            None => incomplete_ask(&verb, Missing::Reason),
        },
        "dismiss" => {
            let (findings, reason) = parse_findings(rest);
            match (findings.is_empty(), parse_reason(reason)) {
                (true, _) => incomplete_ask(&verb, Missing::Finding),
                (false, None) => incomplete_ask(&verb, Missing::Reason),
                (false, Some(reason)) => Ask::Dismiss { findings, reason },
            }
        }
        "reopen" => {
            let (findings, _) = parse_findings(rest);
            if findings.is_empty() { incomplete_ask(&verb, Missing::Finding) } else { Ask::Reopen { findings } }
        }
        "rounds" => match parse_rounds(rest) {
            Some(more) => Ask::Rounds { more },
            None => incomplete_ask(&verb, Missing::Number),
        },
        "retry" => without_arguments(Ask::Retry),
        "pause" => without_arguments(Ask::Pause),
        "resume" => without_arguments(Ask::Resume),
        "break-glass" | "breakglass" => parse_break_glass(rest),
        "break" => match split_word(rest) {
            (second, rest) if second.eq_ignore_ascii_case("glass") => parse_break_glass(rest),
            _ => unknown_ask(text, None),
        },
        "help" => without_arguments(Ask::Help),
        _ => unknown_ask(text, None),
    }
}

fn parse_break_glass(rest: &str) -> Ask {
    match parse_reason(rest) {
        Some(reason) => Ask::BreakGlass { reason },
        None => incomplete_ask("break-glass", Missing::Reason),
    }
}

fn incomplete_ask(verb: &str, missing: Missing) -> Ask {
    Ask::Unknown { verb: verb.to_owned(), nearest: None, missing: Some(missing) }
}

fn unknown_ask(text: &str, verb: Option<&str>) -> Ask {
    let nearest =
        verb.map(str::to_owned).or_else(|| find_nearest_verb(text)).or_else(|| text.is_empty().then(|| "help".into()));
    Ask::Unknown { verb: text.chars().take(MAX_UNKNOWN_CHARS).collect(), nearest, missing: None }
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word.trim_end_matches(['.', '!', ',', ':', ';']), rest)
}

fn is_courtesy(rest: &str) -> bool {
    rest.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .all(|word| ["please", "pls", "again", "now", "thanks", "thx"].iter().any(|it| it.eq_ignore_ascii_case(word)))
}

/// Returns the findings at the start, and the rest.
fn parse_findings(mut rest: &str) -> (Vec<Named>, &str) {
    let mut findings = Vec::new();
    loop {
        let (first, after) = split_item(rest);
        if let Some(named) = parse_finding(first) {
            if !findings.contains(&named) && findings.len() < MAX_FINDINGS {
                findings.push(named);
            }
            rest = after;
        } else if ["and", "&", "+"].contains(&first) && parse_finding(split_item(after).0).is_some() {
            rest = after;
        } else {
            return (findings, rest);
        }
    }
}

fn split_item(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let end = text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len());
    text.split_at(end)
}

/// Parses `F4` or `security/F4`, also as a code span or followed by a colon.
fn parse_finding(word: &str) -> Option<Named> {
    let word = word.trim_end_matches([':', ';', '.']).trim_matches('`');
    let (role, id) = match word.rsplit_once('/') {
        Some((role, id)) if !role.is_empty() => (Some(RoleName::from(role)), id),
        Some(_) => return None,
        None => (None, word),
    };
    let digits = id.strip_prefix(['F', 'f']).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    Some(Named { role, id: FindingId(digits.parse().ok()?) })
}

fn parse_reason(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '-' | '–' | '—')).trim();
    text.chars().any(char::is_alphanumeric).then(|| text.chars().take(MAX_REASON_CHARS).collect())
}

fn parse_rounds(rest: &str) -> Option<u32> {
    let rest = rest.trim_start();
    let (number, after) = split_word(rest.strip_prefix('+').unwrap_or(rest));
    if number.len() > 1 || !is_courtesy(after) {
        return None;
    }
    number.parse().ok().filter(|more| (1..=MAX_ROUNDS).contains(more))
}

/// Returns the most similar verb. Verbs may have two words.
fn find_nearest_verb(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let both = words.next().map(|second| format!("{first} {second}"));
    let nearest = both.and_then(|both| find_nearest_word(&both, VERBS)).or_else(|| find_nearest_word(first, VERBS));
    nearest.map(str::to_owned)
}

//! Commands (LOOP-12): the first line of a comment, addressed to referee.
//!
//! | words | asks for |
//! |---|---|
//! | `review` | another look at what changed |
//! | `full review` | another look at everything |
//! | `explain` | why the pull is where it is |
//! | `dismiss F4 [role/F9 …] <reason>` | these findings stay as they are |
//! | `reopen F4 …` | a dismissal is taken back |
//! | `rounds +N`, N from 1 to 9 | more rounds |
//! | `retry` | a failed reviewer tries again |
//! | `pause`, `resume` | nothing starts here; it may again |
//! | `break-glass <reason>` | no reviewer stands in the way at this head |
//! | `help` | this list |
//! | a verb that lacks something | a hint that says what |
//! | anything else | a hint with the nearest verb |
//!
//! A verb that takes no words may be followed by `please` and the like, by nothing else: `review comments are noisy`
//! is no command.

use super::{Ask, Missing, Named, find_nearest_word};
use crate::model::{FindingId, Login, RoleName};

/// How people address referee: `@<bot>`, and `/referee` unless the forge takes a leading slash for itself.
#[derive(Clone, Copy, Debug)]
pub struct CommandPrefixes<'a> {
    /// Names that are mentioned.
    pub bot_logins: &'a [Login],
    /// A leading slash belongs to the forge.
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

/// The command in a comment, if its first line is one.
pub fn parse_command(text: &str, calls: &CommandPrefixes<'_>) -> Option<Ask> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let said = strip_address(line, calls)?;
    Some(parse_ask(said))
}

/// What follows the address; `None` where the line is addressed to nobody, or is code or a quote.
fn strip_address<'a>(line: &'a str, calls: &CommandPrefixes<'_>) -> Option<&'a str> {
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
        let ends = rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ':'));
        return (ends && calls.bot_logins.iter().any(is_bot)).then(|| rest.trim_start_matches([',', ':']).trim());
    }
    if calls.slash_reserved {
        return None;
    }
    let (head, rest) = start.split_at_checked("/referee".len())?;
    let ends = rest.chars().next().is_none_or(char::is_whitespace);
    (head.eq_ignore_ascii_case("/referee") && ends).then(|| rest.trim())
}

fn parse_ask(said: &str) -> Ask {
    let (first, rest) = split_word(said);
    let verb = first.to_ascii_lowercase();
    let alone = |ask: Ask| if is_courtesy(rest) { ask } else { unknown_ask(said, Some(&verb)) };
    match verb.as_str() {
        "review" => alone(Ask::Review),
        "full-review" => alone(Ask::FullReview),
        "full" => match split_word(rest) {
            (second, rest) if second.eq_ignore_ascii_case("review") && is_courtesy(rest) => Ask::FullReview,
            _ => unknown_ask(said, None),
        },
        "explain" => alone(Ask::Explain),
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
        "retry" => alone(Ask::Retry),
        "pause" => alone(Ask::Pause),
        "resume" => alone(Ask::Resume),
        "break-glass" | "breakglass" => parse_break_glass(rest),
        "break" => match split_word(rest) {
            (second, rest) if second.eq_ignore_ascii_case("glass") => parse_break_glass(rest),
            _ => unknown_ask(said, None),
        },
        "help" => alone(Ask::Help),
        _ => unknown_ask(said, None),
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

fn unknown_ask(said: &str, meant: Option<&str>) -> Ask {
    let nearest =
        meant.map(str::to_owned).or_else(|| find_nearest_verb(said)).or_else(|| said.is_empty().then(|| "help".into()));
    Ask::Unknown { verb: said.chars().take(MAX_UNKNOWN_CHARS).collect(), nearest, missing: None }
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

/// Findings at the beginning, and what follows them.
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

/// `F4`, `security/F4`, in code or with a colon behind it.
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

/// The nearest verb; some are two words.
fn find_nearest_verb(said: &str) -> Option<String> {
    let mut words = said.split_whitespace();
    let first = words.next()?;
    let both = words.next().map(|second| format!("{first} {second}"));
    let near = both.and_then(|both| find_nearest_word(&both, VERBS)).or_else(|| find_nearest_word(first, VERBS));
    near.map(str::to_owned)
}

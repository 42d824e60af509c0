//! I2: no line of a sent text is a command, for a forge or for a bot. The checker is independent of
//! the sanitiser.

/// Bots that also read code.
const BOTS: [&str; 4] = ["bors", "dependabot", "mergify", "rustbot"];

/// Returns the command of a line of prose, if it is one.
pub(crate) fn commanded(line: &str) -> Option<&str> {
    // Forges and bots read the start of a line; some skip quotes, lists and blanks.
    let mut start = line.trim_start();
    while let Some(inside) = ["> ", ">", "- ", "* ", "+ "].iter().find_map(|mark| start.strip_prefix(mark)) {
        start = inside.trim_start();
    }
    order(start)
}

fn order(start: &str) -> Option<&str> {
    let (sign, rest) = (start.chars().next()?, start.get(1..)?);
    let word = rest.split(|it: char| !it.is_ascii_alphanumeric() && it != '-' && it != '_').next()?;
    let ends = rest.get(word.len()..).is_some_and(|after| after.is_empty() || after.starts_with(char::is_whitespace));
    let commands = match sign {
        '/' => ends && !word.is_empty(),
        '@' => is_name(word),
        _ => false,
    };
    commands.then_some(start)
}

/// Fails on the first line that is a command.
pub(crate) fn commands_nothing(text: &str) {
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") && !line.trim_start_matches('`').contains('`') {
            fenced = !fenced;
            continue;
        }
        let in_code = || order(line.trim_start()).filter(|found| found.starts_with('/') || calls_a_bot(found));
        let found = if fenced { in_code() } else { commanded(line) };
        assert_eq!(found, None, "in:\n{text}");
    }
    assert!(!fenced, "a fence is left open in:\n{text}");
}

fn calls_a_bot(line: &str) -> bool {
    BOTS.iter().any(|bot| line.strip_prefix('@').is_some_and(|name| name.starts_with(bot)))
}

/// Returns mentioned names outside of code.
pub(crate) fn mentions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence = 0;
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if fence > 0 {
            fence = if ticks >= fence && line.trim_end().len() == ticks { 0 } else { fence };
            continue;
        }
        if ticks >= 3 {
            fence = ticks;
            continue;
        }
        for prose in outside_code(line) {
            let mut rest = prose;
            while let Some(at) = rest.find('@') {
                let (before, from) = rest.split_at(at);
                let name = from.get(1..).unwrap_or_default();
                let end =
                    name.find(|it: char| !it.is_ascii_alphanumeric() && it != '-' && it != '_').unwrap_or(name.len());
                let glued = before.ends_with(|it: char| it.is_alphanumeric());
                found.extend(name.get(..end).filter(|name| is_name(name) && !glued));
                rest = name;
            }
        }
    }
    found
}

/// Returns whether this may be a login: hyphens alone are not.
fn is_name(word: &str) -> bool {
    word.contains(|it| it != '-')
}

/// Returns the parts of a line between code spans: a span ends at the next run of as many backticks.
fn outside_code(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        parts.push(before);
        let inside = from.trim_start_matches('`');
        let length = from.len() - inside.len();
        let mut end = None;
        let mut from = 0;
        while let Some(run) = inside.get(from..).and_then(|tail| tail.find('`')).map(|at| from + at) {
            let tail = inside.get(run..).unwrap_or_default();
            let ticks = tail.len() - tail.trim_start_matches('`').len();
            if ticks == length {
                end = Some(run + ticks);
                break;
            }
            from = run + ticks;
        }
        rest = end.and_then(|end| inside.get(end..)).unwrap_or(inside);
    }
    parts.push(rest);
    parts
}

#[test]
fn the_checker_detects_commands() {
    for line in ["/approve", "  /merge", "> @bors r+", "- /close", "@dependabot merge", "\t/lgtm", "/x y"] {
        assert!(commanded(line).is_some(), "{line}");
    }
    for line in ["`@referee help`", "a /approve", "// comment", "**critical** F4", "/ 2", "+/a", "/usr/bin", ""] {
        assert!(commanded(line).is_none(), "{line}");
    }
    assert_eq!(mentions("hi @bob, `@carol` and a@b.example\n```\n@dave\n```\n@eve"), ["bob", "eve"]);
    assert_eq!(mentions("`` ` @a `` @b ``` @c ` @d"), ["b", "c", "d"]);
}

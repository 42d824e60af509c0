//! Reads the first lines of a summary back, by the grammar of `headline`.

/// What the first lines of a summary say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryWords<'a> {
    pub role: &'a str,
    /// The short id of the head that was evaluated.
    pub head: &'a str,
    /// N in `round N of M`; `None` unless the role's own verdict blocks.
    pub round: Option<usize>,
    /// Another role blocks, and this one follows it (PUB-7).
    pub held: bool,
}

/// Reads the first lines of a summary that `render_summary` wrote. `None` for any other text. Ignores what a person put
/// above the headline or below the line `Evaluated against …`.
pub fn split_summary(text: &str) -> Option<SummaryWords<'_>> {
    let mut headline = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some(evaluated) = line.strip_prefix("Evaluated against ") else {
            headline = line;
            continue;
        };
        let (head, role) = evaluated.split_once(" by ")?;
        let role = role.split_once(", an ad hoc role").map_or(role, |(name, _)| name).trim_end();
        let is_commit = 7 <= head.len() && head.bytes().all(|b| b.is_ascii_hexdigit());
        let is_headline = headline.starts_with("**") && headline.contains("** · ");
        let mut parts = headline.split(" · ");
        return (is_commit && is_headline).then(|| SummaryWords {
            role,
            head,
            round: parts.clone().find_map(parse_round),
            held: parts.any(|part| part.starts_with("held by ")),
        });
    }
    None
}

fn parse_round(part: &str) -> Option<usize> {
    let (round, _) = part.strip_prefix("round ")?.split_once(" of ")?;
    round.parse().ok()
}

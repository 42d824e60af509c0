//! What must hold after a run that read the head, judged from the outside: exit code, words and the printed document.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::run_output::RunOutput;
use crate::tree::{Defect, Level};

/// What the driver knows about the head, independent of referee.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// Defects on lines that the pull adds and that no person accepted.
    pub(crate) open: BTreeSet<Defect>,
    /// Defects that may be listed but need not: a person accepted them, or they stood on the base.
    pub(crate) optional: BTreeSet<Defect>,
    /// All results of the linter at this head.
    pub(crate) received: usize,
    /// Patches at which the role asked for changes.
    pub(crate) rounds: usize,
}

/// The message of a check that failed: what was promised, and what was seen.
pub(crate) type Breach = String;

/// Checks a run with `--json` that read the head, or that found it read.
pub(crate) fn check_document(truth: &Truth, ran: &RunOutput) -> Result<(), Breach> {
    let document = ran.document();
    let role = find_role(&document)?;
    let known = check_findings(truth, &document)?;
    let verdict = role["own"].as_str().unwrap_or("none");
    let critical_count = truth.open.iter().filter(|defect| defect.level == Level::Critical).count();
    // Later rounds hold warnings back, and say so (LOOP-5); `check_findings` counts those.
    let warnings = known.iter().filter(|defect| defect.level == Level::Warning && truth.open.contains(defect)).count();
    // INC-12 with the default of `risk_warnings`.
    let blocks = critical_count > 0 || warnings >= 3;
    require(blocks == (verdict == "request_changes"), || {
        format!("verdict {verdict} with {critical_count} critical findings and {warnings} warnings open")
    })?;
    require((ran.code == 20) == (verdict == "request_changes"), || {
        format!("exit code {} with verdict {verdict}", ran.code)
    })?;
    require(ran.code == 20 || ran.code == 0, || format!("exit code {} for a head that was read", ran.code))?;
    let round = document["pull"]["round"].as_u64().unwrap_or_default() as usize;
    require(round == truth.rounds, || format!("round {round}, but changes were requested at {} patches", truth.rounds))
}

/// Checks the findings of a document, and returns the defects that it lists as standing.
fn check_findings(truth: &Truth, document: &Value) -> Result<BTreeSet<Defect>, Breach> {
    let standing = ["new", "open", "answered", "disputed"];
    let all = document["findings"].as_array().cloned().unwrap_or_default();
    let listed: Vec<&Value> =
        all.iter().filter(|finding| standing.contains(&finding["state"].as_str().unwrap_or_default())).collect();
    let mut known = BTreeSet::new();
    for finding in &listed {
        let number = number_of(finding).ok_or_else(|| format!("a finding without its title: {finding}"))?;
        let level = Level::ALL.into_iter().find(|level| finding["severity"] == level.name());
        let defect = level.map(|level| Defect { number, level });
        let there = defect.filter(|defect| truth.open.contains(defect) || truth.optional.contains(defect));
        let defect = there.ok_or_else(|| format!("a finding for a defect that is not there: {finding}"))?;
        require(known.insert(defect), || format!("defect {number} is listed twice"))?;
    }
    let accounted = |field: &str| {
        let roles = document["accounting"].as_array().cloned().unwrap_or_default();
        roles.iter().filter(|role| role["role"] == "lint").filter_map(|role| role[field].as_u64()).sum::<u64>() as usize
    };
    let missing: Vec<&Defect> = truth.open.iter().filter(|defect| !known.contains(defect)).collect();
    require(!missing.iter().any(|defect| defect.level == Level::Critical), || {
        format!("critical defects are unknown: {missing:?}")
    })?;
    require(missing.len() <= accounted("held_back"), || {
        format!(
            "{} of {} defects are unknown and not counted as held back: {missing:?}",
            missing.len(),
            truth.open.len()
        )
    })?;
    let total =
        ["new", "known", "merged", "held_back", "pre_existing", "without_place", "outside", "off", "unsupported"];
    let (received, sum) = (accounted("received"), total.into_iter().map(accounted).sum::<usize>());
    require(received == sum, || format!("received {received}, but the parts add up to {sum}"))?;
    // A killed run saved its report; the next run posts it together with its own.
    require(received == 0 || received == truth.received || received == 2 * truth.received, || {
        format!("received {received}, but the linter printed {}", truth.received)
    })?;
    Ok(known)
}

/// Checks a run without `--json` on a head that was read: the words agree with the exit code and with the document.
pub(crate) fn check_words(reviewed: &RunOutput, ran: &RunOutput) -> Result<(), Breach> {
    let words = format!("{}\n{}", ran.out, ran.err).to_lowercase();
    let says = |phrase: &str| words.contains(phrase);
    require(says("changes requested") == (ran.code == 20), || {
        format!("exit code {} with the words\n{words}", ran.code)
    })?;
    let document = reviewed.document();
    let counting = document["findings"].as_array().into_iter().flatten().filter(|finding| finding["counts"] == true);
    let open = counting.count();
    require(!says("no findings") || open == 0, || format!("`no findings` with {open} open"))?;
    require(!says("not reviewed"), || format!("`not reviewed` for a head that was read\n{words}"))
}

/// Checks a run whose linter failed: nobody may take the head for reviewed.
pub(crate) fn check_failed(ran: &RunOutput) -> Result<(), Breach> {
    let words = format!("{}\n{}", ran.out, ran.err).to_lowercase();
    let blocks = ran.code == 20;
    require(blocks || ran.code == 14, || format!("exit code {} after the linter failed\n{words}", ran.code))?;
    require(words.contains("not reviewed"), || {
        format!("the words do not say that the head was not reviewed\n{words}")
    })?;
    require(!words.contains("no findings") && !words.contains("nothing blocking"), || {
        format!("a failed review reads like a clean one\n{words}")
    })
}

/// Checks a run on an unchanged pull: it writes nothing and prints the same findings and verdict.
pub(crate) fn check_silence(before: &RunOutput, ran: &RunOutput) -> Result<(), Breach> {
    let (was, is) = (before.document(), ran.document());
    require(is["calls"]["writes"] == 0, || format!("the next run wrote: {}", is["steps"]))?;
    require(before.code == ran.code, || format!("exit code {}, then {}", before.code, ran.code))?;
    let texts = |document: &Value| {
        let all = document["findings"].as_array().cloned().unwrap_or_default();
        let key = |finding: &Value| {
            ["id", "title", "rule", "body", "severity", "path", "line", "column", "help"]
                .map(|field| finding[field].to_string())
        };
        let standing = all.iter().filter(|finding| finding["state"] != "fixed");
        standing.map(key).collect::<BTreeSet<_>>()
    };
    let (was_listed, is_listed) = (texts(&was), texts(&is));
    require(was_listed == is_listed, || {
        let gone: Vec<_> = was_listed.difference(&is_listed).take(2).collect();
        let new: Vec<_> = is_listed.difference(&was_listed).take(2).collect();
        format!("findings read differently in the next run: {gone:?} became {new:?}")
    })?;
    require(find_role(&was)?["own"] == find_role(&is)?["own"], || "the verdict changed in the next run".to_owned())
}

/// Returns the number at the start of a finding's title.
fn number_of(finding: &Value) -> Option<u32> {
    finding["title"].as_str()?.strip_prefix('D')?.split(' ').next()?.parse().ok()
}

pub(crate) fn find_finding(document: &Value, defect: Defect) -> Option<Value> {
    let all = document["findings"].as_array()?;
    all.iter().find(|finding| number_of(finding) == Some(defect.number)).cloned()
}

pub(crate) fn find_role(document: &Value) -> Result<Value, Breach> {
    let roles = document["roles"].as_array().cloned().unwrap_or_default();
    let role = roles.into_iter().find(|role| role["role"] == "lint");
    role.ok_or_else(|| format!("the document has no role `lint`: {}", document["roles"]))
}

fn require(holds: bool, breach: impl FnOnce() -> Breach) -> Result<(), Breach> {
    if holds { Ok(()) } else { Err(breach()) }
}

//! What the built-in reviewer says of the plants.

use std::collections::BTreeMap;

use referee_core::model::{RoleName, Severity, SubmittedFinding};
use referee_core::plan::{Brief, Reason, Scope};
use referee_core::rule::Rule;
use referee_git::{Git, parse_diff};
use referee_review::builtin::{RuleSet, review_change};
use referee_review::change::ChangeSet;

use crate::plant::Plant;
use crate::repo::Repo;

/// What was said.
pub(crate) struct Verdicts {
    /// For each plant the rule that found it.
    pub(crate) found: Vec<Option<String>>,
    /// What points at no plant.
    pub(crate) noise: Vec<SubmittedFinding>,
    /// How many lines the change adds.
    pub(crate) added: u32,
}

/// One change with all plants, as git tells it.
pub(crate) fn judge(plants: &[Plant]) -> Verdicts {
    let base = plants.iter().filter_map(|plant| Some((plant.path.clone(), plant.base.clone()?))).collect();
    let head = plants.iter().map(|plant| (plant.path.clone(), plant.head.clone())).collect();
    let repo = Repo::new("recall");
    let trees: [BTreeMap<String, String>; 2] = [base, head];
    let commits = repo.commits(trees.iter());
    let git = Git::from_dir(&repo.dir);
    let diff = git.diff(&commits[0], &commits[1]).expect("git tells the change");
    let files = parse_diff(&diff).expect("git's own words");
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let texts = git.read_files(&commits[1], &paths).expect("git has the files");
    let change = ChangeSet { head: &commits[1], files: &files, contents: &texts };
    let brief = Brief {
        role: RoleName::from("builtin"),
        head: commits[1].clone(),
        scope: Scope::Whole,
        round: 1,
        priors: Vec::new(),
        floor: Severity::Suggestion,
        why: Reason::new(Rule::ReviewDue),
    };
    let rules = RuleSet::load_embedded().expect("the rules are whole");
    let report = review_change(&brief, &change, &change.select_files(&[], &[]), &rules);
    let added = (0..files.len()).flat_map(|file| change.added_lines(file)).map(|run| run.count() as u32).sum();
    sort(plants, report.findings, added)
}

fn sort(plants: &[Plant], findings: Vec<SubmittedFinding>, added: u32) -> Verdicts {
    let mut verdicts = Verdicts { found: vec![None; plants.len()], noise: Vec::new(), added };
    for finding in findings {
        let first = finding.line.unwrap_or(1);
        let last = finding.end_line.unwrap_or(first);
        let touched = plants.iter().position(|plant| plant.path == finding.path && plant.is_touched(first, last));
        match touched {
            Some(plant) => {
                verdicts.found[plant].get_or_insert(finding.rule.unwrap_or_default());
            }
            None => verdicts.noise.push(finding),
        }
    }
    verdicts
}

//! How each role stands: its review, its Mark, its rounds, its fresh report.

use super::Known;
use crate::mark::Mark;
use crate::model::{Counts, Login, Outcome, Report, Review, Row, Snapshot, Verdict};
use crate::policy::{Policy, Role};
use crate::track::PatchId;

/// A role's latest review that was not superseded.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The row.
    pub review: &'a Review,
    /// Its Mark.
    pub mark: &'a Mark,
    /// The form it was posted in.
    pub form: Verdict,
}

/// What follows for one role.
#[derive(Debug)]
pub struct RoleFacts<'a> {
    /// The role.
    pub role: &'a Role,
    /// Who speaks for it.
    pub identity: &'a Login,
    /// This process holds that identity's token.
    pub held: bool,
    /// It looks at files that this pull changes.
    pub touched: bool,
    /// It does, or its standing verdict blocks.
    pub applies: bool,
    /// Its standing review.
    pub standing: Option<Standing<'a>>,
    /// The approval that its standing block took the place of, if that does not say so: a turn was cut short (PUB-5).
    pub outlived: Option<Standing<'a>>,
    /// Its fresh report.
    pub report: Option<&'a Report>,
    /// The fresh report is of this head and covers everything; positions are judged later.
    pub covers: bool,
    /// Rounds used (LOOP-2).
    pub rounds: u32,
    /// The changes those were, since the latest reopen.
    pub round_patches: Vec<&'a PatchId>,
    /// Its findings that were raised before, by id.
    pub known: Vec<Known<'a>>,
}

impl RoleFacts<'_> {
    /// Its standing verdict is complete and for this very change, whatever the head is called (D2, INC-16).
    pub fn current(&self, patch: &PatchId) -> bool {
        self.standing.is_some_and(|standing| standing.mark.complete && standing.mark.patch == *patch)
    }
}

pub(super) fn all<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<RoleFacts<'a>> {
    policy.roles.iter().map(|role| one(snapshot, role)).collect()
}

fn one<'a>(snapshot: &'a Snapshot, role: &'a Role) -> RoleFacts<'a> {
    let identity = role.speaks_as(&snapshot.viewer.login);
    let report = snapshot.report(&role.name);
    let round_patches = rounds(snapshot, role, identity);
    let standing = standing(snapshot, role, identity);
    // A role that blocks must be able to take it back, even where its files left the change.
    let blocks = standing.is_some_and(|standing| standing.mark.own == Verdict::RequestChanges);
    let touched = applies(snapshot, role);
    RoleFacts {
        touched,
        applies: blocks || touched,
        held: *identity == snapshot.viewer.login || snapshot.viewer.holds.contains(identity),
        standing,
        outlived: outlived(snapshot, role, identity, standing),
        covers: report.is_some_and(|report| covers(snapshot, role, report)),
        rounds: u32::try_from(round_patches.len()).unwrap_or(u32::MAX),
        known: Known::of(snapshot, role, identity, standing),
        role,
        identity,
        report,
        round_patches,
    }
}

fn standing<'a>(snapshot: &'a Snapshot, role: &Role, identity: &Login) -> Option<Standing<'a>> {
    marked(snapshot, role, identity)
        .rev()
        .find(|(_, mark)| mark.superseded.is_none())
        .and_then(|(review, mark)| Some(Standing { review, mark, form: review.verdict()? }))
}

fn outlived<'a>(
    snapshot: &'a Snapshot,
    role: &Role,
    identity: &Login,
    standing: Option<Standing<'a>>,
) -> Option<Standing<'a>> {
    let standing = standing.filter(|standing| standing.form == Verdict::RequestChanges)?;
    let before = marked(snapshot, role, identity).take_while(|(review, _)| review.id != standing.review.id).last();
    before
        .filter(|(review, mark)| mark.superseded.is_none() && review.verdict() == Some(Verdict::Approve))
        .map(|(review, mark)| Standing { review, mark, form: Verdict::Approve })
}

fn marked<'a>(
    snapshot: &'a Snapshot,
    role: &Role,
    identity: &Login,
) -> impl DoubleEndedIterator<Item = (&'a Review, &'a Mark)> {
    // Most reviews have no Mark of this role: that is seen sooner than whose they are.
    snapshot
        .reviews
        .iter()
        .filter_map(move |review| Some((review, review.text.mark().filter(|mark| mark.role == role.name)?)))
        .filter(move |(review, _)| review.is_by(identity) && matches!(review.row, Row::Verdict(_)))
}

/// Changes at which the role's own verdict asked for changes, since the latest reopen: those its Marks list, and
/// those its own rows show, so that a lost list does not reset the count.
fn rounds<'a>(snapshot: &'a Snapshot, role: &Role, identity: &Login) -> Vec<&'a PatchId> {
    let reopened = snapshot.pull.reopened_at();
    let mut patches: Vec<&PatchId> = Vec::new();
    for (_, mark) in marked(snapshot, role, identity).filter(|(_, mark)| mark.reopened == reopened) {
        let shown = (mark.complete && mark.own == Verdict::RequestChanges).then_some(&mark.patch);
        for patch in mark.rounds.iter().chain(shown) {
            if !patches.contains(&patch) {
                patches.push(patch);
            }
        }
    }
    patches
}

fn applies(snapshot: &Snapshot, role: &Role) -> bool {
    role.paths.is_empty()
        || snapshot.changes.files.iter().any(|file| {
            touches(role, &file.path) || { file.old_path.as_deref().is_some_and(|path| touches(role, path)) }
        })
}

fn touches(role: &Role, path: &str) -> bool {
    role.paths.iter().any(|glob| fast_glob::glob_match(glob, path))
}

/// Whether a report is of this head and read every changed file that the role looks at, or says that the policy
/// excluded it.
fn covers(snapshot: &Snapshot, role: &Role, report: &Report) -> bool {
    let coverage = match &report.outcome {
        Outcome::Findings(coverage) | Outcome::Clean(coverage) => coverage,
        Outcome::Failed { .. } => return false,
    };
    let excluded = |path: &str| coverage.skipped.iter().any(|it| it.path == path && it.why == "excluded");
    let read = |path: &str| coverage.read.iter().any(|it| it == path) || excluded(path);
    report.head == snapshot.pull.head
        && coverage.skipped.iter().all(|it| it.why == "excluded")
        && snapshot
            .changes
            .files
            .iter()
            .filter(|file| role.paths.is_empty() || touches(role, &file.path))
            .all(|file| read(&file.path))
}

impl<'a> super::Facts<'a> {
    /// The identity's newest verdict that the forge counts: what its merge gate goes by (PUB-21).
    pub fn newest_counted(&self, identity: &Login) -> Option<Verdict> {
        self.snapshot
            .reviews
            .iter()
            .rev()
            .filter(|review| review.is_by(identity) && matches!(review.counts, Counts::Yes))
            .find_map(|review| review.verdict().filter(|verdict| *verdict != Verdict::Comment))
    }

    /// The facts of one role.
    pub fn role(&self, name: &crate::model::RoleName) -> Option<&RoleFacts<'a>> {
        self.roles.iter().find(|role| role.role.name == *name)
    }
}

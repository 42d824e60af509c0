//! How each role stands: its review, its Mark, its rounds, its fresh report.

use super::KnownFinding;
use crate::mark::Mark;
use crate::model::{Login, Report, ReportOutcome, Review, ReviewKind, ReviewWeight, Snapshot, Verdict};
use crate::policy::{Policy, Role};
use crate::track::PatchId;

/// A role's latest review that was not superseded.
#[derive(Clone, Copy, Debug)]
pub struct StandingReview<'a> {
    /// The row.
    pub review: &'a Review,
    /// Its Mark.
    pub mark: &'a Mark,
    /// The form it was posted in.
    pub posted_as: Verdict,
}

/// What follows for one role.
#[derive(Debug)]
pub struct RoleFacts<'a> {
    /// The role.
    pub role: &'a Role,
    /// Who speaks for it.
    pub identity: &'a Login,
    /// This process holds that identity's token.
    pub has_token: bool,
    /// It looks at files that this pull changes.
    pub matches_changed_files: bool,
    /// It does, or its standing verdict blocks.
    pub applies: bool,
    /// Its standing review.
    pub standing: Option<StandingReview<'a>>,
    /// The approval that its standing block took the place of, if that does not say so: a turn was cut short (PUB-5).
    pub unsuperseded_approval: Option<StandingReview<'a>>,
    /// Its fresh report.
    pub report: Option<&'a Report>,
    /// The fresh report is of this head and covers everything; positions are judged later.
    pub report_covers_head: bool,
    /// Rounds used (LOOP-2).
    pub rounds_used: u32,
    /// The changes those were, since the latest reopen.
    pub round_patches: Vec<&'a PatchId>,
    /// Its findings that were raised before, by id.
    pub known_findings: Vec<KnownFinding<'a>>,
}

impl RoleFacts<'_> {
    /// Its standing verdict is complete and for this very change, whatever the head is called (D2, INC-16).
    pub fn is_current_for(&self, patch: &PatchId) -> bool {
        self.standing.is_some_and(|standing| standing.mark.complete && standing.mark.patch == *patch)
    }
}

pub(super) fn collect_role_facts<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<RoleFacts<'a>> {
    policy.roles.iter().map(|role| build_role_facts(snapshot, role)).collect()
}

fn build_role_facts<'a>(snapshot: &'a Snapshot, role: &'a Role) -> RoleFacts<'a> {
    let identity = role.identity_or(&snapshot.viewer.login);
    let report = snapshot.latest_report(&role.name);
    let round_patches = collect_round_patches(snapshot, role, identity);
    let standing = find_standing_review(snapshot, role, identity);
    // A role that blocks must be able to take it back, even where its files left the change.
    let blocks = standing.is_some_and(|standing| standing.mark.own == Verdict::RequestChanges);
    let touched = matches_changed_files(snapshot, role);
    RoleFacts {
        matches_changed_files: touched,
        applies: blocks || touched,
        has_token: *identity == snapshot.viewer.login || snapshot.viewer.holds.contains(identity),
        standing,
        unsuperseded_approval: find_unsuperseded_approval(snapshot, role, identity, standing),
        report_covers_head: report.is_some_and(|report| covers_head(snapshot, role, report)),
        rounds_used: u32::try_from(round_patches.len()).unwrap_or(u32::MAX),
        known_findings: KnownFinding::collect_for_role(snapshot, role, identity, standing),
        role,
        identity,
        report,
        round_patches,
    }
}

fn find_standing_review<'a>(snapshot: &'a Snapshot, role: &Role, identity: &Login) -> Option<StandingReview<'a>> {
    marked_reviews(snapshot, role, identity)
        .rev()
        .find(|(_, mark)| mark.superseded.is_none())
        .and_then(|(review, mark)| Some(StandingReview { review, mark, posted_as: review.verdict()? }))
}

fn find_unsuperseded_approval<'a>(
    snapshot: &'a Snapshot,
    role: &Role,
    identity: &Login,
    standing: Option<StandingReview<'a>>,
) -> Option<StandingReview<'a>> {
    let standing = standing.filter(|standing| standing.posted_as == Verdict::RequestChanges)?;
    let before =
        marked_reviews(snapshot, role, identity).take_while(|(review, _)| review.id != standing.review.id).last();
    before
        .filter(|(review, mark)| mark.superseded.is_none() && review.verdict() == Some(Verdict::Approve))
        .map(|(review, mark)| StandingReview { review, mark, posted_as: Verdict::Approve })
}

fn marked_reviews<'a>(
    snapshot: &'a Snapshot,
    role: &Role,
    identity: &Login,
) -> impl DoubleEndedIterator<Item = (&'a Review, &'a Mark)> {
    // Most reviews have no Mark of this role: that is seen sooner than whose they are.
    snapshot
        .reviews
        .iter()
        .filter_map(move |review| Some((review, review.text.trusted_mark().filter(|mark| mark.role == role.name)?)))
        .filter(move |(review, _)| review.is_by(identity) && matches!(review.row, ReviewKind::Verdict(_)))
}

/// Changes at which the role's own verdict asked for changes, since the latest reopen: those its Marks list, and
/// those its own rows show, so that a lost list does not reset the count.
fn collect_round_patches<'a>(snapshot: &'a Snapshot, role: &Role, identity: &Login) -> Vec<&'a PatchId> {
    let reopened = snapshot.pull.reopened_at();
    let mut patches: Vec<&PatchId> = Vec::new();
    for (_, mark) in marked_reviews(snapshot, role, identity).filter(|(_, mark)| mark.reopened == reopened) {
        let shown = (mark.complete && mark.own == Verdict::RequestChanges).then_some(&mark.patch);
        for patch in mark.rounds.iter().chain(shown) {
            if !patches.contains(&patch) {
                patches.push(patch);
            }
        }
    }
    patches
}

fn matches_changed_files(snapshot: &Snapshot, role: &Role) -> bool {
    role.paths.is_empty()
        || snapshot.changes.files.iter().any(|file| {
            matches_path(role, &file.path) || { file.old_path.as_deref().is_some_and(|path| matches_path(role, path)) }
        })
}

fn matches_path(role: &Role, path: &str) -> bool {
    role.paths.iter().any(|glob| fast_glob::glob_match(glob, path))
}

/// Whether a report is of this head and read every changed file that the role looks at, or says that the policy
/// excluded it.
fn covers_head(snapshot: &Snapshot, role: &Role, report: &Report) -> bool {
    let coverage = match &report.outcome {
        ReportOutcome::Findings(coverage) | ReportOutcome::Clean(coverage) => coverage,
        ReportOutcome::Failed { .. } => return false,
    };
    let excluded = |path: &str| coverage.skipped.iter().any(|it| it.path == path && it.why == "excluded");
    let read = |path: &str| coverage.read.iter().any(|it| it == path) || excluded(path);
    report.head == snapshot.pull.head
        && coverage.skipped.iter().all(|it| it.why == "excluded")
        && snapshot
            .changes
            .files
            .iter()
            .filter(|file| role.paths.is_empty() || matches_path(role, &file.path))
            .all(|file| read(&file.path))
}

impl<'a> super::Facts<'a> {
    /// The identity's newest verdict that the forge counts: what its merge gate goes by (PUB-21).
    pub fn newest_counted_verdict(&self, identity: &Login) -> Option<Verdict> {
        self.snapshot
            .reviews
            .iter()
            .rev()
            .filter(|review| review.is_by(identity) && matches!(review.counts, ReviewWeight::Yes))
            .find_map(|review| review.verdict().filter(|verdict| *verdict != Verdict::Comment))
    }

    /// The facts of one role.
    pub fn role(&self, name: &crate::model::RoleName) -> Option<&RoleFacts<'a>> {
        self.roles.iter().find(|role| role.role.name == *name)
    }
}

//! The state of each role: its standing review, Mark, rounds and fresh report.

use std::collections::BTreeSet;

use super::KnownFinding;
use super::known_finding::repeats;
use crate::hash::Hash;
use crate::mark::{Mark, find_patch};
use crate::model::{Login, Report, ReportOutcome, Review, ReviewKind, ReviewWeight, Snapshot, Verdict};
use crate::policy::{Policy, Role, RoleAccounts};
use crate::track::PatchId;

/// The latest review of a role that was not superseded.
#[derive(Clone, Copy, Debug)]
pub struct StandingReview<'a> {
    pub review: &'a Review,
    pub mark: &'a Mark,
    /// The verdict that the review was posted with.
    pub posted_as: Verdict,
}

impl StandingReview<'_> {
    /// Returns whether this review was posted without knowledge of an older one at the same change: it has the same
    /// verdict and opens a thread of the older one again, or a milder verdict without the findings of the older one. A
    /// review that is posted again on purpose (PUB-20) opens no thread.
    fn is_double_of(&self, older: &Self, snapshot: &Snapshot) -> bool {
        let is_repetition = || self.posted_as == older.posted_as && self.repeats_thread_of(older, snapshot);
        let is_unaware = || self.posted_as < older.posted_as && self.mark.highest < older.mark.highest;
        self.review.commit == older.review.commit
            && self.mark.patch == older.mark.patch
            && (is_repetition() || is_unaware())
    }

    fn repeats_thread_of(&self, older: &Self, snapshot: &Snapshot) -> bool {
        let opened_by = |review: &'_ Review| {
            let id = review.id.clone();
            snapshot.threads.iter().filter(move |thread| thread.review.as_ref() == Some(&id))
        };
        opened_by(self.review).any(|thread| opened_by(older.review).any(|other| repeats(thread, other)))
    }
}

/// Values derived for one role.
#[derive(Debug)]
pub struct RoleFacts<'a> {
    pub role: &'a Role,
    /// The login that posts for the role.
    pub identity: &'a Login,
    /// This process has that identity's token.
    pub has_token: bool,
    /// The pull changes files that the role reviews.
    pub matches_changed_files: bool,
    /// It does, or the role's standing verdict blocks.
    pub applies: bool,
    pub standing: Option<StandingReview<'a>>,
    /// The approval that the standing block replaced, if it is not marked as superseded: a turn was interrupted
    /// (PUB-5).
    pub unsuperseded_approval: Option<StandingReview<'a>>,
    /// Reviews that another process posted beside the standing one, without knowing it (D42).
    pub doubles: Vec<StandingReview<'a>>,
    pub report: Option<&'a Report>,
    /// The fresh report is of this head and covers every file; its positions are judged later.
    pub report_covers_head: bool,
    /// Rounds used (LOOP-2).
    pub rounds_used: u32,
    /// The known changes of these rounds, since the latest reopen.
    pub round_patches: Vec<&'a PatchId>,
    /// Findings that were raised before, by id.
    pub known_findings: Vec<KnownFinding<'a>>,
}

impl RoleFacts<'_> {
    /// Returns whether the role's reviewer is a program of fixed rules: the built-in rules, or a linter by its report.
    pub fn is_deterministic(&self) -> bool {
        let reported = self.report.map(|report| report.deterministic);
        let stored = || self.standing.is_some_and(|standing| standing.mark.tool.is_some());
        reported.unwrap_or_else(|| self.role.free || stored())
    }

    /// Returns whether the standing verdict is complete and for this change, whatever the head's id (D2, INC-16).
    pub fn is_current_for(&self, patch: &PatchId) -> bool {
        self.standing.is_some_and(|standing| standing.mark.complete && standing.mark.patch == *patch)
    }
}

impl RoleFacts<'_> {
    /// Returns whether the standing Mark records this very report, at this change, with findings that fit nowhere: then its
    /// unknown results are those (D33).
    pub fn repeats_overflowing_report(&self, patch: &PatchId) -> bool {
        let (Some(report), Some(standing)) = (self.report, self.standing) else { return false };
        let mark = standing.mark;
        mark.report.as_ref() == Some(&report.digest) && mark.patch == *patch && !mark.overflow.is_empty()
    }

    /// Returns whether the role reads the whole change, and nothing of it is held back as unchanged (D34).
    ///
    /// | whole when |
    /// |---|
    /// | the role has no complete review yet, or git no longer has its head |
    /// | `--full`, or a person asks for it |
    /// | findings of the last review fit nowhere on the pull (D33) |
    /// | its configured inputs changed, or its report names another tool or rule set |
    pub fn reads_whole(&self, facts: &super::Facts<'_>) -> bool {
        let Some(StandingReview { mark, .. }) = self.standing else { return true };
        let reviewed = mark.reviewed.as_ref().filter(|head| !facts.snapshot.changes.unreachable.contains(*head));
        let reported = self.report.and_then(|report| report.tool.as_ref());
        reviewed.is_none()
            || facts.snapshot.evidence.full
            || facts.is_full_review_requested()
            || !mark.overflow.is_empty()
            || differ(mark.configured.as_ref(), self.role.inputs.as_ref())
            || differ(mark.tool.as_ref(), reported)
    }
}

/// Returns whether two hashes of inputs differ. An unknown one differs from nothing.
fn differ(before: Option<&Hash>, now: Option<&Hash>) -> bool {
    before.zip(now).is_some_and(|(before, now)| before != now)
}

pub(super) fn collect_role_facts<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<RoleFacts<'a>> {
    policy.roles.iter().map(|role| build_role_facts(snapshot, policy, role)).collect()
}

/// Returns the account that posts for a role on this pull: where several may, the one that wrote the newest Mark.
pub(super) fn find_identity<'a>(snapshot: &'a Snapshot, policy: &'a Policy, role: &'a Role) -> &'a Login {
    let viewer = &snapshot.viewer.login;
    let users = match policy.accounts_of(role, viewer) {
        RoleAccounts::One(identity) => return identity,
        RoleAccounts::ReviewUsers(users) => users,
    };
    let has_mark = |review: &&Review| review.text.trusted_mark().is_some_and(|mark| mark.role == role.name);
    let mut authors = snapshot.reviews.iter().rev().filter(has_mark).filter_map(|review| review.author.login.as_ref());
    authors.find(|login| users.contains(*login)).unwrap_or(viewer)
}

fn build_role_facts<'a>(snapshot: &'a Snapshot, policy: &'a Policy, role: &'a Role) -> RoleFacts<'a> {
    let identity = find_identity(snapshot, policy, role);
    let report = snapshot.latest_report(&role.name);
    let rounds = count_rounds(snapshot, policy, role, identity);
    let (standing, doubles) = find_standing_review(snapshot, role, identity);
    // A role that blocks must be able to lift its block, even if its files left the change.
    let blocks = standing.is_some_and(|standing| standing.mark.own == Verdict::RequestChanges);
    let matches = matches_changed_files(snapshot, role);
    RoleFacts {
        matches_changed_files: matches,
        applies: blocks || matches,
        has_token: *identity == snapshot.viewer.login || snapshot.viewer.holds.contains(identity),
        standing,
        doubles,
        unsuperseded_approval: find_unsuperseded_approval(snapshot, role, identity, standing),
        report_covers_head: report.is_some_and(|report| covers_head(snapshot, role, report)),
        rounds_used: rounds.used,
        round_patches: rounds.patches,
        known_findings: KnownFinding::collect_for_role(snapshot, role, identity, standing),
        role,
        identity,
        report,
    }
}

/// Returns the latest review that was not superseded, and its doubles: of two that do not know each other, the one with
/// the worse verdict stands, otherwise the older one (D42).
fn find_standing_review<'a>(
    snapshot: &'a Snapshot,
    role: &Role,
    identity: &Login,
) -> (Option<StandingReview<'a>>, Vec<StandingReview<'a>>) {
    let mut standing: Option<StandingReview<'a>> = None;
    let mut doubles = Vec::new();
    for (review, mark) in marked_reviews(snapshot, role, identity).rev() {
        if let Some(successor) = &mark.superseded {
            // The newer review was posted in place of this one, so it is not a double of anything older.
            if standing.is_some_and(|newer| newer.review.id == *successor) {
                break;
            }
            continue;
        }
        let Some(posted_as) = review.verdict() else { continue };
        let found = StandingReview { review, mark, posted_as };
        match standing {
            Some(newer) if newer.is_double_of(&found, snapshot) => doubles.push(newer),
            Some(_) => break,
            None => {}
        }
        standing = Some(found);
    }
    (standing, doubles)
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
    // The Mark first: most reviews have none of this role.
    snapshot
        .reviews
        .iter()
        .filter_map(move |review| Some((review, review.text.trusted_mark().filter(|mark| mark.role == role.name)?)))
        .filter(move |(review, _)| review.is_by(identity) && matches!(review.row, ReviewKind::Verdict(_)))
}

/// The rounds that a role used since the latest reopen (LOOP-2).
#[derive(Debug, Default)]
struct RoundCount<'a> {
    used: u32,
    patches: Vec<&'a PatchId>,
}

/// Counts the rounds of a role. The Marks list them; the blocking reviews on the forge are a cross-check, so that a lost
/// or edited Mark does not reset the count. The larger number counts.
///
/// | blocking review | counts as |
/// |---|---|
/// | with a Mark | the change in the Mark, if the role's own verdict blocks: following another role is not a round |
/// | whose Mark is lost | the rounds that its text or its threads show, at least one |
/// | of an identity with this role only, without any trace of a Mark | its commit |
///
/// Several reviews of one change count once.
fn count_rounds<'a>(snapshot: &'a Snapshot, policy: &Policy, role: &Role, identity: &Login) -> RoundCount<'a> {
    let reopened = snapshot.pull.reopened_at();
    let mut patches: Vec<&PatchId> = Vec::new();
    let mut blocked: BTreeSet<PatchId> = unmarked_blocks(snapshot, policy, identity);
    let mut recovered = 0;
    for (review, mark) in marked_reviews(snapshot, role, identity).filter(|(_, mark)| mark.reopened == reopened) {
        let is_block = mark.own == Verdict::RequestChanges;
        if review.text.has_recovered_mark() {
            recovered = recovered.max(mark.rounds.len());
            blocked.extend(is_block.then(|| mark.patch.clone()));
            continue;
        }
        let shown = (mark.complete && is_block).then_some(&mark.patch);
        for patch in mark.rounds.iter().chain(shown) {
            if !patches.contains(&patch) {
                patches.push(patch);
            }
        }
        blocked.extend(shown.cloned());
    }
    let here = &snapshot.changes.patch;
    if blocked.contains(here) && !patches.contains(&here) {
        patches.push(here);
    }
    let used = patches.len().max(blocked.len()).max(recovered);
    RoundCount { used: u32::try_from(used).unwrap_or(u32::MAX), patches }
}

/// Returns the changes of blocking reviews that no Mark, thread or text assigns to a role, if the identity has only one.
fn unmarked_blocks(snapshot: &Snapshot, policy: &Policy, identity: &Login) -> BTreeSet<PatchId> {
    let sharing = policy.roles.iter().filter(|role| find_identity(snapshot, policy, role) == identity);
    if sharing.count() != 1 {
        return BTreeSet::new();
    }
    let reopened = snapshot.pull.reopened_at();
    let is_unmarked_block = |review: &&Review| {
        review.is_by(identity)
            && review.verdict() == Some(Verdict::RequestChanges)
            && review.text.trusted_mark().is_none()
            && review.text.bot_text().is_none_or(|bot| bot.sentinel.is_none())
            && reopened.is_none_or(|reopened| reopened <= review.at)
    };
    let blocks = snapshot.reviews.iter().filter(is_unmarked_block);
    blocks.filter_map(|review| Some(find_patch(snapshot, review.commit.as_ref()?))).collect()
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

/// Returns whether a report is of this head and read every changed file of the role, except those that the policy
/// excluded.
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
    /// Returns the identity's newest verdict that the forge counts, which is what its merge check uses (PUB-21).
    pub fn newest_counted_verdict(&self, identity: &Login) -> Option<Verdict> {
        self.snapshot
            .reviews
            .iter()
            .rev()
            .filter(|review| review.is_by(identity) && matches!(review.counts, ReviewWeight::Yes))
            .find_map(|review| review.verdict().filter(|verdict| *verdict != Verdict::Comment))
    }

    pub fn role(&self, name: &crate::model::RoleName) -> Option<&RoleFacts<'a>> {
        self.roles.iter().find(|role| role.role.name == *name)
    }
}

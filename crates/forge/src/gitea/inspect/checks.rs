//! The messages of an inspection.

use referee_core::model::{Login, Support, Time};

use super::{BranchSettings, HealthStatus, InspectionItem, OwnVerdict, ProtectionRule, RepositorySettings};
use crate::ForgeError;
use crate::gitea::GiteaServerInfo;
use crate::gitea::capabilities::lookup_capabilities;

/// A larger clock skew makes ages and leases wrong.
const MAX_SKEW_SECONDS: i64 = 30;
const REVIEW_REQUEST_HINT: &str = "switch `block_on_official_review_requests` on";

pub(super) fn check_server(server: &GiteaServerInfo) -> InspectionItem {
    match lookup_capabilities(server.flavour, &server.version) {
        Ok(_) => fine("server", server.name()),
        Err(_) => warning("server", format!("{}, a version without a capability table", server.name()))
            .with_hint("the server was probed; other capabilities are those of the nearest known version"),
    }
}

pub(super) fn describe_capabilities(server: &GiteaServerInfo) -> InspectionItem {
    let can = &server.capabilities;
    let all = [
        ("edits", can.edit_review),
        ("replies", can.reply),
        ("resolving", can.resolve),
        ("statuses", can.status),
        ("verdicts", can.verdicts),
        ("labels", can.labels),
        ("claims", can.claim),
    ];
    let named = |support: Support| {
        let names = all.iter().filter(|(_, it)| *it == support).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let parts = [("has", Support::Native), ("emulated", Support::Emulated), ("lacks", Support::Unsupported)];
    let parts = parts.map(|(how, support)| (how, named(support)));
    let parts = parts.iter().filter(|(_, names)| !names.is_empty()).map(|(how, names)| format!("{how} {names}"));
    fine("supports", parts.collect::<Vec<_>>().join("; "))
}

pub(super) fn check_clocks(server: Option<Time>, here: Time) -> InspectionItem {
    match server.map(|server| server.0 - here.0) {
        None => unknown("clock", "the server reports no time"),
        Some(skew) if skew.abs() <= MAX_SKEW_SECONDS => fine("clock", "agrees with the server's"),
        Some(skew) => {
            let side = if skew < 0 { "ahead of" } else { "behind" };
            warning("clock", format!("this machine is {} seconds {side} the server", skew.abs()))
                .with_hint("synchronise both clocks (NTP); ages and claims use the server's")
        }
    }
}

pub(super) fn check_identity(login: &Result<Login, ForgeError>) -> InspectionItem {
    match login {
        Ok(login) => fine("token", format!("it is {login}'s")),
        Err(ForgeError::Unauthenticated) => {
            bad("token", "the server does not accept it").with_hint("make a new one for the bot's user")
        }
        Err(ForgeError::Forbidden(_)) => {
            bad("token", "it may not read its own user").with_hint("give it the scope `read:user`")
        }
        Err(error) => unknown("token", error.to_string()),
    }
}

pub(super) fn check_repository(repository: &Result<RepositorySettings, ForgeError>, name: &str) -> InspectionItem {
    match repository {
        Ok(repository) if repository.archived => {
            bad("repository", format!("{name} is archived, so comments are not possible"))
        }
        Ok(_) => fine("repository", name),
        Err(ForgeError::NotFound(_)) => {
            bad("repository", format!("{name} does not exist, or this user may not see it"))
                .with_hint("add the bot's user to a team of the repository")
        }
        Err(error) => bad("repository", format!("{name}: {error}")),
    }
}

/// Reports the rights of the user; the token may have fewer.
pub(super) fn check_rights(repository: &RepositorySettings, branch: Option<&BranchSettings>) -> InspectionItem {
    let rights = repository.permissions;
    let may: Vec<&str> = [
        ("administer the repository", rights.admin),
        ("push", rights.push || branch.is_some_and(|branch| branch.user_can_push)),
        ("merge", branch.is_some_and(|branch| branch.user_can_merge)),
    ]
    .into_iter()
    .filter_map(|(what, may)| may.then_some(what))
    .collect();
    if !may.is_empty() {
        let message = format!("the token's user may {}, and so may anybody who has its token", may.join(", "));
        return warning("rights", message).with_hint(
            "a team with code: read, issues: write, pull requests: write is enough; referee never merges or closes",
        );
    }
    match branch {
        Some(_) => fine("rights", "the token's user can neither push nor merge"),
        None => unknown("rights", "the token's user cannot push; the server does not say whether it may merge"),
    }
}

pub(super) fn check_protection(
    name: &str,
    branch: &Result<BranchSettings, ForgeError>,
    rule: Option<&ProtectionRule>,
) -> Vec<InspectionItem> {
    let branch = match branch {
        Ok(branch) => branch,
        Err(error) => return vec![unknown("protection", format!("`{name}`: {error}"))],
    };
    if !branch.protected {
        return vec![
            warning("protection", format!("`{name}` is not protected: no verdict prevents a merge"))
                .with_hint("protect it with `block_on_rejected_reviews`, and let the bot's reviews count"),
        ];
    }
    let checks = match branch.status_check_contexts.as_slice() {
        _ if !branch.enable_status_check => "no checks".to_owned(),
        [] => "all checks".to_owned(),
        named => format!("checks {}", named.join(", ")),
    };
    let approvals = branch.required_approvals;
    let requirements =
        format!("`{name}` requires {approvals} approval{}, {checks}", if approvals == 1 { "" } else { "s" });
    vec![fine("protection", requirements), check_blocking(rule), check_review_requests(rule)]
}

fn check_blocking(rule: Option<&ProtectionRule>) -> InspectionItem {
    match rule {
        Some(ProtectionRule { block_on_rejected_reviews: true, .. }) => {
            fine("block", "requested changes prevent a merge")
        }
        Some(_) => warning("block", "requested changes do not prevent a merge")
            .with_hint("switch `block_on_rejected_reviews` on"),
        None => unknown("block", "only administrators can see whether requested changes prevent a merge")
            .with_hint("check it as an administrator: `block_on_rejected_reviews` must be on"),
    }
}

/// Reports whether a review request lifts a block (PUB-20).
fn check_review_requests(rule: Option<&ProtectionRule>) -> InspectionItem {
    match rule {
        Some(ProtectionRule { block_on_official_review_requests: true, .. }) => {
            fine("requests", "a new review request does not lift a block")
        }
        Some(_) => {
            warning("requests", "the author can lift a block with a new review request, until referee runs again")
                .with_hint(REVIEW_REQUEST_HINT)
        }
        None => unknown("requests", "only administrators can see whether a new review request lifts a block")
            .with_hint("check it as an administrator: `block_on_official_review_requests` must be on"),
    }
}

pub(super) fn check_own_verdict(own: &Result<Option<OwnVerdict>, ForgeError>) -> InspectionItem {
    match own {
        Ok(Some(OwnVerdict { pull, counts: true, .. })) => fine("verdict", format!("counts, as on #{pull}")),
        Ok(Some(OwnVerdict { pull, asked_again: true, .. })) => {
            warning("verdict", format!("stopped counting on #{pull}: another review was requested"))
                .with_hint(REVIEW_REQUEST_HINT)
        }
        Ok(Some(OwnVerdict { pull, .. })) => warning("verdict", format!("did not count on #{pull}"))
            .with_hint("name the bot among those whose reviews count (`approvals_whitelist_username`)"),
        Ok(None) => {
            unknown("verdict", "this user has no verdict on the latest pulls, so it is unknown whether one counts")
        }
        Err(error) => unknown("verdict", error.to_string()),
    }
}

pub(super) fn check_status_rights(repository: &RepositorySettings) -> InspectionItem {
    if repository.permissions.push {
        fine("statuses", "the token's user may write them")
    } else {
        warning("statuses", "not written: the server requires the right to push")
            .with_hint("set `status = false` under `[review]`; verdicts work without statuses")
    }
}

pub(super) fn check_webhooks(active: Result<usize, ForgeError>) -> InspectionItem {
    match active {
        Ok(0) => fine("webhook", "none: pulls are read when referee runs"),
        Ok(1) => fine("webhook", "1 active"),
        Ok(n) => fine("webhook", format!("{n} active")),
        Err(_) => unknown("webhook", "only administrators of the repository can see it"),
    }
}

/// Reports why the inspection ended early.
pub(super) fn describe_abort(error: &ForgeError) -> InspectionItem {
    bad("server", error.to_string()).with_hint("nothing else was checked on this server")
}

pub(super) fn fine(subject: &'static str, message: impl Into<String>) -> InspectionItem {
    InspectionItem { status: HealthStatus::Fine, subject, message: message.into(), hint: None }
}

pub(super) fn warning(subject: &'static str, message: impl Into<String>) -> InspectionItem {
    InspectionItem { status: HealthStatus::Warning, ..fine(subject, message) }
}

pub(super) fn bad(subject: &'static str, message: impl Into<String>) -> InspectionItem {
    InspectionItem { status: HealthStatus::Bad, ..fine(subject, message) }
}

pub(super) fn unknown(subject: &'static str, message: impl Into<String>) -> InspectionItem {
    InspectionItem { status: HealthStatus::Unknown, ..fine(subject, message) }
}

impl InspectionItem {
    pub(super) fn with_hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use referee_core::model::{Login, Time};

    use super::*;
    use crate::gitea::inspect::RepositoryRights;
    use crate::gitea::wire::{Review, User};

    fn row(id: u64, login: &str, state: &str, official: bool) -> Review {
        let user = Some(User { id: 2, login: login.to_owned() });
        Review { id, user, state: state.to_owned(), official, ..Review::default() }
    }

    fn verdict_of(rows: &[Review]) -> InspectionItem {
        check_own_verdict(&Ok(OwnVerdict::find_latest(rows, 7, &Login("bot".to_owned()))))
    }

    #[test]
    fn the_latest_own_verdict_shows_whether_verdicts_count() {
        let others = row(9, "carol", "REQUEST_CHANGES", true);
        let counts = [row(1, "bot", "APPROVED", false), row(2, "bot", "REQUEST_CHANGES", true), others.clone()];
        assert_eq!(verdict_of(&counts).status, HealthStatus::Fine);
        let lifted = [row(2, "bot", "REQUEST_CHANGES", false), row(3, "bot", "REQUEST_REVIEW", true)];
        let lifted = verdict_of(&lifted);
        assert_eq!((lifted.status, lifted.hint.as_deref()), (HealthStatus::Warning, Some(REVIEW_REQUEST_HINT)));
        let unlisted = verdict_of(&[row(2, "bot", "APPROVED", false)]);
        assert!(unlisted.hint.is_some_and(|hint| hint.contains("approvals_whitelist_username")));
        let dismissed = [Review { dismissed: true, ..row(2, "bot", "APPROVED", true) }];
        assert_eq!(verdict_of(&dismissed).status, HealthStatus::Warning);
        assert_eq!(verdict_of(&[others, row(10, "bot", "COMMENT", false)]).status, HealthStatus::Unknown);
    }

    #[test]
    fn rights_are_listed_and_unknown_ones_are_not_claimed() {
        let of = |admin, push, branch: Option<(bool, bool)>| {
            let repository =
                RepositorySettings { permissions: RepositoryRights { admin, push }, ..RepositorySettings::default() };
            let branch = branch.map(|(user_can_push, user_can_merge)| BranchSettings {
                user_can_push,
                user_can_merge,
                ..BranchSettings::default()
            });
            check_rights(&repository, branch.as_ref())
        };
        assert_eq!(of(false, false, Some((false, false))).status, HealthStatus::Fine);
        assert_eq!(of(false, false, None).status, HealthStatus::Unknown);
        let merge = of(false, true, Some((false, true)));
        assert!(merge.status == HealthStatus::Warning && merge.message.contains("may push, merge,"), "{merge:?}");
        assert!(of(true, true, Some((true, true))).message.contains("administer the repository, push, merge"));
    }

    #[test]
    fn an_unreadable_protection_rule_gives_unknown() {
        let branch = Ok(BranchSettings { protected: true, required_approvals: 2, ..BranchSettings::default() });
        let states = |rule: Option<&ProtectionRule>| {
            check_protection("main", &branch, rule).iter().map(|fact| fact.status).collect::<Vec<_>>()
        };
        assert_eq!(states(None), [HealthStatus::Fine, HealthStatus::Unknown, HealthStatus::Unknown]);
        let open = ProtectionRule { block_on_rejected_reviews: true, block_on_official_review_requests: false };
        assert_eq!(states(Some(&open)), [HealthStatus::Fine, HealthStatus::Fine, HealthStatus::Warning]);
        let bare = check_protection("main", &Ok(BranchSettings::default()), None);
        assert!(bare.len() == 1 && bare[0].status == HealthStatus::Warning, "{bare:?}");
    }

    #[test]
    fn a_small_clock_skew_is_accepted() {
        assert_eq!(check_clocks(Some(Time(1000)), Time(1020)).status, HealthStatus::Fine);
        let late = check_clocks(Some(Time(1000)), Time(1100));
        assert!(late.status == HealthStatus::Warning && late.message.contains("100 seconds ahead of"), "{late:?}");
        assert!(check_clocks(Some(Time(1100)), Time(1000)).message.contains("100 seconds behind"));
        assert_eq!(check_clocks(None, Time(1000)).status, HealthStatus::Unknown);
    }
}

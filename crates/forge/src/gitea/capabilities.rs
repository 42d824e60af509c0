//! What each version of Gitea and Forgejo can do. The adapter and the generated pages use the same tables.

use referee_core::mark::MAX_BLOCK_BYTES;
use referee_core::model::{Capabilities, Support};

use super::Flavour;
use crate::{CapabilityRow, CapabilityTable, VersionRange, VersionSupport};

/// Routes that not every version has, according to the server's own API description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LateRoutes {
    pub(super) resolve: bool,
    pub(super) replies: bool,
}

/// The capabilities of a version outside the table: those of the nearest version, until the server is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnlistedVersion(Capabilities);

/// Returns the capabilities of a version.
pub(super) fn lookup_capabilities(flavour: Flavour, version: &str) -> Result<Capabilities, UnlistedVersion> {
    let CapabilityTable { rows, versions: known, .. } = capability_table(flavour);
    let number = parse_version_number(flavour, version);
    let nearest = number.unwrap_or(known.last).clamp(known.first, known.last);
    let support = |operation: &str| {
        let way = rows.iter().filter(|row| row.operation == operation).find_map(|row| row.support_at(nearest));
        way.map_or(Support::Unsupported, |way| way.support)
    };
    let capabilities = Capabilities {
        edit_review: support(EDIT),
        reply: support(REPLY),
        resolve: support(RESOLVE),
        status: support(STATUS),
        verdicts: support(VERDICTS),
        claim: support(CLAIM),
        labels: support(LABELS),
        slash_is_taken: false,
        max_text: MAX_TEXT_BYTES,
        max_block: Some(MAX_BLOCK_BYTES),
    };
    if number == Some(nearest) { Ok(capabilities) } else { Err(UnlistedVersion(capabilities)) }
}

/// The table of a flavour. `since` counts the second number of a Gitea version, the first of a Forgejo version.
pub(super) fn capability_table(flavour: Flavour) -> CapabilityTable {
    match flavour {
        Flavour::Gitea => {
            CapabilityTable { rows: GITEA, versions: VersionRange { first: 19, last: 27 }, version_prefix: "1." }
        }
        Flavour::Forgejo => {
            CapabilityTable { rows: FORGEJO, versions: VersionRange { first: 7, last: 16 }, version_prefix: "" }
        }
    }
}

impl UnlistedVersion {
    /// Returns the capabilities, corrected by what the server says about its routes.
    pub(super) fn with_late_routes(self, routes: Option<LateRoutes>) -> Capabilities {
        let Self(capabilities) = self;
        let Some(LateRoutes { resolve, replies }) = routes else { return capabilities };
        let native = |has: bool| if has { Support::Native } else { Support::Emulated };
        Capabilities { resolve: native(resolve), reply: native(replies), ..capabilities }
    }
}

/// Returns the number that the tables count: 27 for Gitea `1.27.3`, 10 for Forgejo `10.0.0+gitea-1.22.0`.
fn parse_version_number(flavour: Flavour, version: &str) -> Option<u32> {
    let mut numbers = version.split(|it: char| !it.is_ascii_digit()).map(|number| number.parse().ok());
    match (flavour, numbers.next()??) {
        (Flavour::Forgejo, major) => Some(major),
        (Flavour::Gitea, 1) => numbers.next()?,
        (Flavour::Gitea, _) => None,
    }
}

/// The column `review.content` holds 64 KiB on some databases; a longer text is accepted and silently cut.
const MAX_TEXT_BYTES: usize = 60_000;

const EDIT: &str = "edit a summary in place";
const REPLY: &str = "reply in a thread";
const RESOLVE: &str = "resolve a thread";
const STATUS: &str = "write a commit status";
const VERDICTS: &str = "approve and request changes";
const CLAIM: &str = "keep a claim";
const LABELS: &str = "set labels and assignees";

const fn native(since: u32, how: &'static str) -> VersionSupport {
    VersionSupport { since, support: Support::Native, how }
}

const fn emulated(since: u32, how: &'static str) -> VersionSupport {
    VersionSupport { since, support: Support::Emulated, how }
}

const fn never(since: u32, how: &'static str) -> VersionSupport {
    VersionSupport { since, support: Support::Unsupported, how }
}

macro_rules! rows {
    ($($operation:expr, [$($way:expr),+], $spec:expr;)+) => {
        &[$(CapabilityRow { operation: $operation, ways: &[$($way),+], spec: &$spec }),+]
    };
}

const GITEA: &[CapabilityRow] = rows! {
    "read reviews", [native(0, "all pages, of the size that the server reports")], ["TRI-3"];
    "read the current text of a summary", [emulated(0, "from the timeline; the list returns the first text")], ["PUB-10"];
    "read threads", [emulated(0, "one request for each review, grouped by file and line")], ["TRI-3"];
    "detect outdated threads", [emulated(0, "by git")], ["TRI-3"];
    "detect a conflict", [emulated(0, "by git; the server's `false` also means not computed yet")], ["DSP-6"];
    "post a review with threads",
        [native(0, "not atomic: read back, missing comments are added")], ["PUB-14"];
    "open a thread on several lines", [emulated(0, "on the last line; the text names the first")], ["PUB-13"];
    "open a thread on a whole file", [never(0, "listed in the summary")], ["PUB-13"];
    "post a suggestion that can be applied", [never(0, "shown as code")], ["PUB-13"];
    VERDICTS, [native(0, "counts if branch protection says so; never on the bot's own pull")], ["PUB-7", "PUB-21"];
    EDIT, [native(0, "by its id in the timeline")], ["PUB-5", "PUB-11"];
    REPLY, [
        emulated(0, "a comment on the same line in an empty review; the files page shows it in the thread"),
        native(27, "in the thread")
    ], ["FIX-4"];
    RESOLVE, [emulated(0, "the first note says that it is settled"), native(26, "by the id of its first note")], ["FIX-12"];
    "read who resolved", [native(0, "without the time")], ["INC-5"];
    "read checks", [emulated(0, "all pages; the server's combined status covers one page")], ["DSP-6"];
    STATUS, [native(0, "needs push rights")], ["PUB-19"];
    LABELS, [native(0, "needs write access to issues and pulls")], ["DSP-10"];
    "read when a label was set", [emulated(0, "from the timeline")], ["DSP-4"];
    "read who has write access", [emulated(0, "if a user owns the repository; else from reviews that count")], ["LOOP-12"];
    CLAIM, [native(0, "as a reaction")], ["PUB-8"];
    "webhook on a push, a review, a comment", [native(0, "signed")], ["LOOP-1"];
    "webhook on a check", [never(0, "polled at each pass"), native(23, "signed")], ["LOOP-1"];
    "webhook on a resolved thread", [never(0, "polled at each pass")], ["LOOP-1"];
};

const FORGEJO: &[CapabilityRow] = rows! {
    "read reviews", [native(0, "all pages, of the size that the server reports")], ["TRI-3"];
    "read the current text of a summary", [emulated(0, "from the timeline; the list returns the first text")], ["PUB-10"];
    "read threads", [emulated(0, "one request for each review, grouped by file and line")], ["TRI-3"];
    "detect outdated threads", [emulated(0, "by git")], ["TRI-3"];
    "detect a conflict", [emulated(0, "by git; the server's `false` also means not computed yet")], ["DSP-6"];
    "post a review with threads",
        [native(0, "not atomic: read back, missing comments are added")], ["PUB-14"];
    "open a thread on several lines", [emulated(0, "on the last line; the text names the first")], ["PUB-13"];
    "open a thread on a whole file", [never(0, "listed in the summary")], ["PUB-13"];
    "post a suggestion that can be applied", [never(0, "shown as code")], ["PUB-13"];
    VERDICTS, [native(0, "counts if branch protection says so; never on the bot's own pull")], ["PUB-7", "PUB-21"];
    EDIT, [native(0, "by its id in the timeline")], ["PUB-5", "PUB-11"];
    REPLY, [emulated(0, "a comment added to the thread's review on the same line; notifies nobody")], ["FIX-4"];
    RESOLVE, [emulated(0, "the first note says that it is settled; people can resolve on the page")], ["FIX-12"];
    "read who resolved", [native(0, "without the time")], ["INC-5"];
    "read checks", [emulated(0, "all pages; the server's combined status covers one page")], ["DSP-6"];
    STATUS, [native(0, "needs push rights")], ["PUB-19"];
    LABELS, [native(0, "needs write access to issues and pulls")], ["DSP-10"];
    "read when a label was set", [emulated(0, "from the timeline")], ["DSP-4"];
    "read who has write access", [emulated(0, "if a user owns the repository; else from reviews that count")], ["LOOP-12"];
    CLAIM, [native(0, "as a reaction")], ["PUB-8"];
    "webhook on a push, a review, a comment", [native(0, "signed")], ["LOOP-1"];
    "webhook on a check", [never(0, "polled at each pass"), native(12, "signed, for Forgejo Actions only")],
        ["LOOP-1"];
    "webhook on a resolved thread", [never(0, "polled at each pass")], ["LOOP-1"];
};

#[cfg(test)]
mod tests {
    use super::{Capabilities, Flavour, LateRoutes, Support, UnlistedVersion, capability_table, lookup_capabilities};

    const ALL_LATE_ROUTES: LateRoutes = LateRoutes { resolve: true, replies: true };

    fn listed_capabilities(flavour: Flavour, version: &str) -> Capabilities {
        lookup_capabilities(flavour, version).expect("the table has that version")
    }

    fn unlisted_version(flavour: Flavour, version: &str) -> UnlistedVersion {
        lookup_capabilities(flavour, version).expect_err("the table does not have that version")
    }

    #[test]
    fn a_version_has_the_routes_that_came_before_it() {
        for (flavour, version, resolve, reply) in [
            (Flavour::Gitea, "1.25.5", Support::Emulated, Support::Emulated),
            (Flavour::Gitea, "1.26.0", Support::Native, Support::Emulated),
            (Flavour::Gitea, "1.27.3", Support::Native, Support::Native),
            (Flavour::Gitea, "1.27.0-rc1", Support::Native, Support::Native),
            (Flavour::Forgejo, "10.0.0+gitea-1.22.0", Support::Emulated, Support::Emulated),
            (Flavour::Forgejo, "7.0.16+gitea-1.21.11", Support::Emulated, Support::Emulated),
        ] {
            let known = listed_capabilities(flavour, version);
            assert_eq!((known.resolve, known.reply), (resolve, reply), "{version}");
            assert_eq!((known.verdicts, known.claim), (Support::Native, Support::Native), "{version}");
        }
    }

    #[test]
    fn an_unlisted_version_is_probed_and_otherwise_like_the_nearest_one() {
        for (flavour, version) in
            [(Flavour::Gitea, "1.28.0+dev-12"), (Flavour::Gitea, "2.0.0"), (Flavour::Forgejo, "17.0.0+gitea-1.22.0")]
        {
            let silent = unlisted_version(flavour, version).with_late_routes(None);
            let native = unlisted_version(flavour, version).with_late_routes(Some(ALL_LATE_ROUTES));
            let newest = if flavour == Flavour::Gitea { "1.27.0" } else { "16.0.0" };
            assert_eq!(silent, listed_capabilities(flavour, newest), "{version}");
            assert_eq!((native.resolve, native.reply), (Support::Native, Support::Native), "{version}");
        }
        assert_eq!(
            unlisted_version(Flavour::Gitea, "1.12.0").with_late_routes(None),
            listed_capabilities(Flavour::Gitea, "1.19.0")
        );
    }

    #[test]
    fn both_capability_tables_have_the_same_keys() {
        let operations = |flavour| capability_table(flavour).rows.iter().map(|row| row.operation).collect::<Vec<_>>();
        assert_eq!(operations(Flavour::Gitea), operations(Flavour::Forgejo));
        for row in [Flavour::Gitea, Flavour::Forgejo].into_iter().flat_map(|it| capability_table(it).rows) {
            assert!(row.ways.is_sorted_by_key(|way| way.since), "{}", row.operation);
            assert_eq!(row.ways.first().map(|way| way.since), Some(0), "{}", row.operation);
        }
    }
}

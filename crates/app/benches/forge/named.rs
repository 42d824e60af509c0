//! Each request of a first review, and the line of the spec that needs it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use referee_testkit::proxy::LoggedRequest;

/// What a request is for, the first time it is sent and each time after.
const NEEDED: &[(&str, &[&str])] = &[
    ("GET /version", &["the server's kind, version and capabilities: PUB-10, FIX-12"]),
    ("GET /user", &["the token's login, to recognise own texts: PUB-9, PUB-12"]),
    (
        "GET /pulls/{n}",
        &[
            "the pull, its head, its base: PUB-1, SAF-2",
            "the head, right before the first write: PUB-15",
            "the head, right before this post: PUB-15",
        ],
    ),
    (
        "GET /pulls/{n}/reviews",
        &["verdicts, and whether they count: PUB-1, PUB-21", "own drafts and reviews, to avoid a duplicate: PUB-14"],
    ),
    ("GET /issues/{n}/timeline", &["current texts, comments, labels, pushes: PUB-10, LOOP-12"]),
    ("GET /pulls/{n}/reviews/{id}/comments", &["the stored inline comments: PUB-14"]),
    (
        "GET /statuses/{sha}",
        &["the checks, and referee's status: PUB-19", "referee's current status, to avoid a duplicate: PUB-2"],
    ),
    ("GET /assignees", &["people with write access: D10"]),
    ("POST /pulls/{n}/reviews", &["the review with its threads: PUB-1"]),
    ("POST /statuses/{sha}", &["the verdict as a status: PUB-19"]),
];

/// The table, in the order in which the requests were sent.
pub(crate) fn table(log: &[LoggedRequest]) -> String {
    let mut table = "| request | purpose |\n|---|---|\n".to_owned();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for seen in log {
        let request = format!("{} {}", seen.method, route(&seen.path));
        let time = times.entry(request.clone()).or_default();
        let reasons = NEEDED.iter().find(|(known, _)| *known == request).map_or(&[][..], |(_, reasons)| *reasons);
        let reason = reasons.get(*time).or(reasons.last()).unwrap_or(&"**unknown**");
        let _ = writeln!(table, "| `{request}` | {reason} |");
        *time += 1;
    }
    table
}

/// Returns the path below the repository, with numbers and commit ids replaced by placeholders.
fn route(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default().trim_start_matches("/api/v1");
    let below: Vec<&str> = match path.strip_prefix("/repos/") {
        Some(rest) => rest.split('/').skip(2).collect(),
        None => path.trim_start_matches('/').split('/').collect(),
    };
    let mut route = String::new();
    for (at, part) in below.iter().enumerate() {
        let place = match part.parse::<u64>() {
            Ok(_) if at == 1 => "{n}",
            Ok(_) => "{id}",
            Err(_) if part.len() == 40 => "{sha}",
            Err(_) => part,
        };
        let _ = write!(route, "/{place}");
    }
    route
}

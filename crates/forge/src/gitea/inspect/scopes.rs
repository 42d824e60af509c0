//! The scopes of a token, as far as a server reports them.

use super::InspectionItem;
use super::checks::{bad, fine, unknown, warning};
use crate::ForgeError;

/// The scopes that a review needs, and whether it needs write access to them.
const REQUIRED_SCOPES: [(&str, bool); 3] = [("repository", true), ("issue", true), ("user", false)];
const SCOPE_HINT: &str = "make a token with `write:repository`, `write:issue` and `read:user`, and no more";

/// Reads the scopes from a 403 message: `required=[read:notification], token scope=write:issue,read:user`.
pub(super) fn item_from_refusal(refusal: &str) -> Option<InspectionItem> {
    let (_, list) = refusal.split_once("token scope=")?;
    let has: Vec<&str> = list.split(',').map(str::trim).filter(|scope| !scope.is_empty()).collect();
    let missing: Vec<String> =
        REQUIRED_SCOPES.iter().filter(|need| !grants_scope(&has, need)).map(format_scope).collect();
    let needless: Vec<&str> = has.iter().copied().filter(|scope| !is_needed(scope)).collect();
    let words = format!("the token has {}", quote_scopes(&has));
    Some(if !missing.is_empty() {
        bad("scopes", format!("{words}; it lacks {}", missing.join(", "))).with_hint(SCOPE_HINT)
    } else if !needless.is_empty() {
        warning("scopes", format!("{words}; a review does not need {}", quote_scopes(&needless))).with_hint(SCOPE_HINT)
    } else {
        fine("scopes", words)
    })
}

/// Infers the scopes from what the token could read, where the server lists none.
pub(super) fn item_from_reads(issues: &Result<(), ForgeError>, reads_notifications: bool) -> InspectionItem {
    match issues {
        Err(ForgeError::Forbidden(_)) => bad("scopes", "the token may not read issues and pulls").with_hint(SCOPE_HINT),
        _ if reads_notifications => {
            warning("scopes", "the token can also read notifications, which a review does not need")
                .with_hint(SCOPE_HINT)
        }
        _ => unknown("scopes", "this server does not list the scopes of a token").with_hint(SCOPE_HINT),
    }
}

fn grants_scope(has: &[&str], (kind, writes): &(&str, bool)) -> bool {
    has.iter().any(|scope| match scope.split_once(':') {
        Some(("write", of)) => of == *kind,
        Some(("read", of)) => of == *kind && !writes,
        _ => *scope == "all",
    })
}

fn is_needed(scope: &str) -> bool {
    // `public-only` restricts the token.
    scope == "public-only"
        || REQUIRED_SCOPES.iter().any(|need| scope == format!("write:{}", need.0) && need.1)
        || REQUIRED_SCOPES.iter().any(|need| scope == format!("read:{}", need.0))
}

fn format_scope((kind, writes): &(&str, bool)) -> String {
    format!("`{}:{kind}`", if *writes { "write" } else { "read" })
}

fn quote_scopes(scopes: &[&str]) -> String {
    scopes.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{item_from_reads, item_from_refusal};
    use crate::ForgeError;
    use crate::gitea::inspect::HealthStatus;

    fn refusal(scopes: &str) -> String {
        format!(
            "token does not have at least one of required scope(s), required=[read:notification], token scope={scopes}"
        )
    }

    #[test]
    fn scopes_are_read_from_a_403() {
        for (scopes, state, words) in [
            ("write:issue,write:repository,read:user", HealthStatus::Fine, "the token has `write:issue`"),
            ("read:repository", HealthStatus::Bad, "lacks `write:repository`, `write:issue`, `read:user`"),
            ("write:issue,write:repository,write:user", HealthStatus::Warning, "does not need `write:user`"),
            ("all", HealthStatus::Warning, "does not need `all`"),
        ] {
            let fact = item_from_refusal(&refusal(scopes)).expect("scopes are told");
            assert!(fact.status == state && fact.message.contains(words), "{fact:?}");
        }
        assert_eq!(
            item_from_refusal("token does not have at least one of required scope(s): [read:notification]"),
            None
        );
    }

    #[test]
    fn without_listed_scopes_they_are_inferred_from_reads() {
        let forbidden = Err(ForgeError::Forbidden("issues".to_owned()));
        assert_eq!(item_from_reads(&forbidden, false).status, HealthStatus::Bad);
        assert_eq!(item_from_reads(&Ok(()), true).status, HealthStatus::Warning);
        assert_eq!(item_from_reads(&Ok(()), false).status, HealthStatus::Unknown);
    }
}

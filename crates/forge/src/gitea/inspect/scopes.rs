//! What a token is for, as far as a server tells.

use super::Fact;
use super::facts::{bad, fine, unknown, warning};
use crate::ForgeError;

/// What a review needs: the kind of scope, and whether it writes.
const NEEDED: [(&str, bool); 3] = [("repository", true), ("issue", true), ("user", false)];
const GIVE: &str = "make a token with `write:repository`, `write:issue` and `read:user`, and no more";

/// By the server's refusal of something else: `required=[read:notification], token scope=write:issue,read:user`.
pub(super) fn told(refusal: &str) -> Option<Fact> {
    let (_, list) = refusal.split_once("token scope=")?;
    let has: Vec<&str> = list.split(',').map(str::trim).filter(|scope| !scope.is_empty()).collect();
    let missing: Vec<String> = NEEDED.iter().filter(|need| !gives(&has, need)).map(named).collect();
    let needless: Vec<&str> = has.iter().copied().filter(|scope| !is_needed(scope)).collect();
    let words = format!("the token has {}", quoted(&has));
    Some(if !missing.is_empty() {
        bad("scopes", format!("{words}; it lacks {}", missing.join(", "))).with(GIVE)
    } else if !needless.is_empty() {
        warning("scopes", format!("{words}; a review does not need {}", quoted(&needless))).with(GIVE)
    } else {
        fine("scopes", words)
    })
}

/// By what the token could read, where the server lists nothing.
pub(super) fn seen(issues: &Result<(), ForgeError>, reads_notifications: bool) -> Fact {
    match issues {
        Err(ForgeError::Forbidden(_)) => bad("scopes", "the token may not read issues and pulls").with(GIVE),
        _ if reads_notifications => {
            warning("scopes", "the token reads notifications too: it can do more than a review needs").with(GIVE)
        }
        _ => unknown("scopes", "this server does not list the scopes of a token").with(GIVE),
    }
}

fn gives(has: &[&str], (kind, writes): &(&str, bool)) -> bool {
    has.iter().any(|scope| match scope.split_once(':') {
        Some(("write", of)) => of == *kind,
        Some(("read", of)) => of == *kind && !writes,
        _ => *scope == "all",
    })
}

fn is_needed(scope: &str) -> bool {
    // This one takes away.
    scope == "public-only"
        || NEEDED.iter().any(|need| scope == format!("write:{}", need.0) && need.1)
        || NEEDED.iter().any(|need| scope == format!("read:{}", need.0))
}

fn named((kind, writes): &(&str, bool)) -> String {
    format!("`{}:{kind}`", if *writes { "write" } else { "read" })
}

fn quoted(scopes: &[&str]) -> String {
    scopes.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{seen, told};
    use crate::ForgeError;
    use crate::gitea::inspect::Soundness;

    fn refusal(scopes: &str) -> String {
        format!(
            "token does not have at least one of required scope(s), required=[read:notification], token scope={scopes}"
        )
    }

    #[test]
    fn a_refusal_tells_the_scopes() {
        for (scopes, state, words) in [
            ("write:issue,write:repository,read:user", Soundness::Fine, "the token has `write:issue`"),
            ("read:repository", Soundness::Bad, "lacks `write:repository`, `write:issue`, `read:user`"),
            ("write:issue,write:repository,write:user", Soundness::Warning, "does not need `write:user`"),
            ("all", Soundness::Warning, "does not need `all`"),
        ] {
            let fact = told(&refusal(scopes)).expect("scopes are told");
            assert!(fact.state == state && fact.words.contains(words), "{fact:?}");
        }
        assert_eq!(told("token does not have at least one of required scope(s): [read:notification]"), None);
    }

    #[test]
    fn where_nothing_is_told_the_reads_speak() {
        let forbidden = Err(ForgeError::Forbidden("issues".to_owned()));
        assert_eq!(seen(&forbidden, false).state, Soundness::Bad);
        assert_eq!(seen(&Ok(()), true).state, Soundness::Warning);
        assert_eq!(seen(&Ok(()), false).state, Soundness::NotKnown);
    }
}

//! How much of the machine a worker sees.

use super::Egress;
use crate::failure::Failure;

/// The tiers, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// A scrubbed environment, limits and a deadline. It keeps accidents out, not people.
    Scrubbed = 0,
    /// Also a home of its own: what it does not look for by name, it does not find.
    OwnHome = 1,
    /// Bubblewrap: it sees its work, its job and the system's programs, and reaches what is listed.
    Bubblewrap = 2,
}

impl Tier {
    /// All of them, weakest first.
    pub(crate) const ALL: [Self; 3] = [Self::Scrubbed, Self::OwnHome, Self::Bubblewrap];

    /// The tier of that number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| *tier as u8 == number)
    }

    /// Why it cannot be had on this machine, if it cannot.
    #[cfg(target_os = "linux")]
    pub(crate) fn check_available(self) -> Result<(), String> {
        match self {
            Self::Scrubbed | Self::OwnHome => Ok(()),
            Self::Bubblewrap => super::bubblewrap::check_usable(),
        }
    }

    /// Why it cannot be had on this machine.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn available(self) -> Result<(), String> {
        Err("this system is not Linux".to_owned())
    }
}

/// What an entry's `sandbox` and `egress` come to on this machine, before anything is claimed or started.
pub(crate) fn resolve_requirements(sandbox: u8, egress: &[String]) -> Result<(Tier, Vec<Egress>), Failure> {
    let Some(tier) = Tier::from_number(sandbox) else {
        return Err(Failure::usage(format!("no worker runs: it demands `sandbox = {sandbox}`, and 2 is the highest"))
            .with_hint("a stronger one is a machine of its own: run referee there"));
    };
    let open = egress.iter().any(|entry| entry == "*");
    if open && tier == Tier::Bubblewrap {
        return Err(Failure::usage("no worker runs: `egress = [\"*\"]` opens what `sandbox = 2` closes")
            .with_hint("name each `host:port`, or give the entry `sandbox = 1`"));
    }
    let read = |entry: &String| {
        let wrong = |why: &str| Failure::usage(format!("no worker runs: `{entry}` in its `egress` {why}"));
        let egress = Egress::parse(entry)
            .ok_or_else(|| wrong("is no `host:port`").with_hint("such as `api.example.org:443` or `127.0.0.1:8080`"))?;
        if egress.is_loopback() && egress.port < 1024 {
            return Err(wrong("cannot be offered inside: ports below 1024 are the system's")
                .with_hint("let that server listen on a higher port too"));
        }
        Ok(egress)
    };
    let egress = egress.iter().filter(|entry| *entry != "*").map(read).collect::<Result<Vec<_>, _>>()?;
    match tier.check_available() {
        Ok(()) => Ok((tier, egress)),
        Err(why) => Err(Failure::usage(format!("no worker runs: it demands `sandbox = {sandbox}`, and {why}"))
            .with_hint("install `bubblewrap` and allow user namespaces; `referee doctor --sandbox` tries it all")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Tier, resolve_requirements};

    fn to_strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_cannot_be_kept_is_refused_before_anything_starts() {
        for (sandbox, egress, part) in [
            (3, vec![], "2 is the highest"),
            (2, vec!["*"], "opens what"),
            (1, vec!["example.org"], "`host:port`"),
            (2, vec!["127.0.0.1:80"], "below 1024"),
        ] {
            let refused = resolve_requirements(sandbox, &to_strings(&egress)).expect_err(part).render();
            assert!(refused.contains(part), "{refused}");
            assert!(refused.contains("hint: "), "{refused}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_network_is_fine_where_none_is_promised() {
        let (tier, egress) = resolve_requirements(1, &to_strings(&["*"])).expect("tier 1");
        assert_eq!((tier, egress.len()), (Tier::OwnHome, 0));
    }
}

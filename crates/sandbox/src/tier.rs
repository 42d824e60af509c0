//! Isolation tiers, and what a configuration entry requires of this machine.

use super::Egress;
use super::error::SandboxError;

/// How strongly a program is isolated, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// A scrubbed environment, limits and a deadline. Protects against accidents, not against attackers.
    Scrubbed = 0,
    /// Also an empty home: credentials are not found at their usual paths.
    OwnHome = 1,
    /// Also bubblewrap: only the work copy, the job folder, the home and the system's programs are visible, and only
    /// the listed endpoints are reachable.
    Bubblewrap = 2,
}

impl Tier {
    const ALL: [Self; 3] = [Self::Scrubbed, Self::OwnHome, Self::Bubblewrap];

    fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| *tier as u8 == number)
    }

    /// Returns an error that says why this machine cannot provide the tier.
    #[cfg(target_os = "linux")]
    pub fn check_available(self) -> Result<(), String> {
        match self {
            Self::Scrubbed | Self::OwnHome => Ok(()),
            Self::Bubblewrap => super::bubblewrap::check_usable(),
        }
    }

    /// Returns an error: every tier requires Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn check_available(self) -> Result<(), String> {
        Err("this system is not Linux".to_owned())
    }
}

/// Checks the `sandbox` and `egress` settings of a worker against this machine, before anything is claimed or started.
pub fn resolve_requirements(sandbox: u8, egress: &[String]) -> Result<(Tier, Vec<Egress>), SandboxError> {
    let Some(tier) = Tier::from_number(sandbox) else {
        return Err(SandboxError::refused(format!(
            "the worker cannot run: `sandbox = {sandbox}` does not exist, 2 is the highest tier"
        ))
        .with_hint("for stronger isolation run referee on a machine of its own"));
    };
    let unrestricted = egress.iter().any(|entry| entry == "*");
    if unrestricted && tier == Tier::Bubblewrap {
        return Err(SandboxError::refused(
            "the worker cannot run: `egress = [\"*\"]` opens the network that `sandbox = 2` closes",
        )
        .with_hint("list each `host:port`, or set `sandbox = 1`"));
    }
    let parse = |entry: &String| {
        let refused = |why: &str| SandboxError::refused(format!("the worker cannot run: `{entry}` in `egress` {why}"));
        let egress = Egress::parse(entry).ok_or_else(|| {
            refused("is not a `host:port`").with_hint("write it like `api.example.org:443` or `127.0.0.1:8080`")
        })?;
        if egress.is_loopback() && egress.port < 1024 {
            return Err(refused("has a privileged port: the sandbox cannot listen below 1024")
                .with_hint("let that server listen on a higher port too"));
        }
        Ok(egress)
    };
    let egress = egress.iter().filter(|entry| *entry != "*").map(parse).collect::<Result<Vec<_>, _>>()?;
    match tier.check_available() {
        Ok(()) => Ok((tier, egress)),
        Err(why) => {
            Err(SandboxError::refused(format!("the worker cannot run: it requires `sandbox = {sandbox}`, and {why}"))
                .with_hint("install `bubblewrap` and allow user namespaces; `referee doctor --sandbox` checks both"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tier, resolve_requirements};

    fn to_strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn impossible_requirements_are_refused_with_a_hint() {
        for (sandbox, egress, part) in [
            (3, vec![], "2 is the highest"),
            (2, vec!["*"], "opens the network"),
            (1, vec!["example.org"], "`host:port`"),
            (2, vec!["127.0.0.1:80"], "below 1024"),
        ] {
            let refused = resolve_requirements(sandbox, &to_strings(&egress)).expect_err(part);
            assert!(refused.message.contains(part), "{refused}");
            assert!(refused.hint.is_some(), "{refused}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn tier_1_allows_an_unrestricted_network() {
        let (tier, egress) = resolve_requirements(1, &to_strings(&["*"])).expect("tier 1");
        assert_eq!((tier, egress.len()), (Tier::OwnHome, 0));
    }
}

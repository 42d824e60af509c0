//! What `referee doctor` says of the forge: found out by reading alone (SAF-7).

use referee_forge::{Address, Fact, ForgeError, Soundness, inspect, probe};
use serde::Serialize;

use super::{Line, State, line};
use crate::case;
use crate::cli::Common;
use crate::failure::Failure;
use crate::reach::Site;
use crate::target::Target;
use crate::wait::wait;

/// A repository on a forge, and what was found out there.
#[derive(Debug, Serialize)]
pub(super) struct Forge {
    server: String,
    repo: String,
    pub(super) lines: Vec<Line>,
}

/// Looks at the forge that commands here would go to; none where pulls are local ones.
pub(super) fn look(common: &Common) -> Result<Option<Forge>, Failure> {
    let Some(site) = case::chosen(common, &Target::Current)? else { return Ok(None) };
    let reach = site.reach()?;
    // A token is shown to a server that nobody named only once that says what it is.
    if site.guessed && matches!(wait(probe(&reach))?, Err(ForgeError::Unsupported(_))) {
        return Ok(None);
    }
    let Site { server, repo, token, .. } = site;
    let at = Address { reach, owner: repo.owner.clone(), repo: repo.name.clone() };
    let facts = wait(inspect(&at, token))?.facts;
    let (server, repo) = (server.to_string(), repo.to_string());
    let mut lines = vec![line(State::Ok, "forge", format!("{repo} on {server}"))];
    lines.extend(facts.into_iter().map(Line::from));
    Ok(Some(Forge { server, repo, lines }))
}

impl From<Fact> for Line {
    fn from(fact: Fact) -> Self {
        let Fact { state, what, words, hint } = fact;
        let state = match state {
            Soundness::Fine => State::Ok,
            Soundness::Warning => State::Warn,
            Soundness::Bad => State::Fail,
            Soundness::NotKnown => State::Unknown,
        };
        Self { state, what, words, hint }
    }
}

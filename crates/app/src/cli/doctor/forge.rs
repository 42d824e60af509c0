//! What `referee doctor` says of the forge: found out by reading alone (SAF-7).

use referee_forge::{ForgeError, HealthStatus, InspectionItem, RepoAddress, inspect, probe_server};
use serde::Serialize;

use super::{DoctorLine, DoctorState, doctor_line};
use crate::failure::Failure;
use crate::session::Options;
use crate::session::pull;
use crate::session::reference::PullReference;
use crate::session::site::Site;

/// A repository on a forge, and what was found out there.
#[derive(Debug, Serialize)]
pub(super) struct ForgeDiagnosis {
    server: String,
    repo: String,
    pub(super) lines: Vec<DoctorLine>,
}

/// Looks at the forge that commands here would go to; none where pulls are local ones.
pub(super) async fn inspect_forge(options: &Options) -> Result<Option<ForgeDiagnosis>, Failure> {
    let Some(site) = pull::chosen(options, &PullReference::Current)? else { return Ok(None) };
    let reach = site.reach()?;
    // A token is shown to a server that nobody named only once that says what it is.
    if site.guessed && matches!(probe_server(&reach).await, Err(ForgeError::Unsupported(_))) {
        return Ok(None);
    }
    let Site { server, repo, token, .. } = site;
    let at = RepoAddress { client_options: reach, owner: repo.owner.clone(), repo: repo.name.clone() };
    let facts = inspect(&at, token).await.items;
    let (server, repo) = (server.to_string(), repo.to_string());
    let mut lines = vec![doctor_line(DoctorState::Ok, "forge", format!("{repo} on {server}"))];
    lines.extend(facts.into_iter().map(DoctorLine::from));
    Ok(Some(ForgeDiagnosis { server, repo, lines }))
}

impl From<InspectionItem> for DoctorLine {
    fn from(fact: InspectionItem) -> Self {
        let InspectionItem { status: state, subject: what, message: words, hint } = fact;
        let state = match state {
            HealthStatus::Fine => DoctorState::Ok,
            HealthStatus::Warning => DoctorState::Warn,
            HealthStatus::Bad => DoctorState::Fail,
            HealthStatus::Unknown => DoctorState::Unknown,
        };
        Self { state, what, words, hint }
    }
}

//! The forge's part of `referee doctor`. It only reads (SAF-7).

use referee_forge::{HealthStatus, InspectionItem, inspect};
use serde::Serialize;

use super::{DoctorLine, DoctorState, doctor_line};
use crate::failure::Failure;
use crate::printable::to_one_line;
use crate::session::Options;
use crate::session::connect::read_failure;
use crate::session::reference::PullReference;
use crate::session::site::{RemoteSite, find_site};

/// A repository on a forge and the checks of it.
#[derive(Debug, Serialize)]
pub(super) struct ForgeDiagnosis {
    server: String,
    repo: String,
    pub(super) lines: Vec<DoctorLine>,
}

/// Checks the forge that commands in this directory use; `None` if pull requests are local.
pub(super) async fn inspect_forge(options: &Options) -> Result<Option<ForgeDiagnosis>, Failure> {
    let Some(site) = find_site(options, &PullReference::Current).await? else { return Ok(None) };
    let inspected = inspect(&site.to_server_site(None)?).await;
    let items = inspected.map_err(|error| read_failure(error, site.server.as_str()))?.items;
    let RemoteSite { server, repo, .. } = site;
    let (server, repo) = (server.to_string(), repo.to_string());
    let mut lines = vec![doctor_line(DoctorState::Ok, "forge", format!("{repo} on {server}"))];
    lines.extend(items.into_iter().map(DoctorLine::from));
    Ok(Some(ForgeDiagnosis { server, repo, lines }))
}

impl From<InspectionItem> for DoctorLine {
    fn from(item: InspectionItem) -> Self {
        let InspectionItem { status, subject, message, hint } = item;
        let state = match status {
            HealthStatus::Fine => DoctorState::Ok,
            HealthStatus::Warning => DoctorState::Warn,
            HealthStatus::Bad => DoctorState::Fail,
            HealthStatus::Unknown => DoctorState::Unknown,
        };
        // The message may quote names of the server, such as those of branches.
        Self { state, what: subject, message: to_one_line(&message), hint }
    }
}

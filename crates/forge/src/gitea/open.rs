//! Opening a pull for a worker's branch.

use referee_core::model::{Login, PullNumber};
use referee_core::plan::{Delivery, Gate};
use serde::Deserialize;
use serde_json::json;

use super::wire::Pull;
use super::{GiteaForge, routes};
use crate::{ForgeError, Permit};

/// The used fields of `GET /repos/{owner}/{repo}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RepositoryHeader {
    full_name: String,
    default_branch: String,
}

impl GiteaForge {
    /// Opens a pull into the default branch, or finds the one that is open for that branch.
    pub(super) async fn open_delivered_pull(
        &self,
        delivery: &Delivery,
        by: &Login,
        permit: &Permit,
    ) -> Result<PullNumber, ForgeError> {
        let Delivery::OpenPull { branch, commit: _, title, body, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        let account = self.find_account(by)?;
        let home: RepositoryHeader =
            account.send_and_parse(&self.repo_request(&routes::REPO, []), "the repository").await?;
        let sent = json!({
            "base": home.default_branch, "head": branch, "title": title.as_str(), "body": body.as_str(),
        });
        let what = format!("a pull for `{branch}`");
        match account.send_and_parse::<Pull>(&self.repo_request(&routes::OPEN_PULL, []).with_body(sent), &what).await {
            Ok(pull) => Ok(PullNumber(pull.number)),
            // The pull exists already, or the response was lost.
            Err(error @ (ForgeError::Conflict(_) | ForgeError::OutcomeUnknown)) => {
                let call = self.repo_request(&routes::PULLS, []).with_query("state", "open");
                let pulls = account.read_pages(&call, "the open pulls", |page: Vec<Pull>| page).await?.items;
                let is_it = |pull: &&Pull| {
                    let from = pull.head.repo.as_ref().map(|repo| repo.full_name.as_str());
                    pull.head.branch == *branch && from == Some(home.full_name.as_str())
                };
                pulls.iter().find(is_it).map(|pull| PullNumber(pull.number)).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }
}

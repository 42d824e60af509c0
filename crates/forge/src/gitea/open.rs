//! Opening a pull for a worker's branch.

use referee_core::model::PullNumber;
use referee_core::plan::{Delivery, Gate};
use serde::Deserialize;
use serde_json::json;

use super::wire::Pull;
use super::{GiteaForge, routes};
use crate::{ForgeError, Permit};

/// What is asked of the repository.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Home {
    full_name: String,
    default_branch: String,
}

impl GiteaForge {
    /// Opens a pull into the default branch, or finds the one that is open for that branch.
    pub(super) async fn deliver(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        let Delivery::OpenPull { branch, commit: _, title, body, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        let hand = self.reader()?;
        let home: Home = hand.read(&self.call(&routes::REPO, []), "the repository").await?;
        let sent = json!({
            "base": home.default_branch, "head": branch, "title": title.as_str(), "body": body.as_str(),
        });
        let what = format!("a pull for `{branch}`");
        match hand.read::<Pull>(&self.call(&routes::OPEN_PULL, []).sending(sent), &what).await {
            Ok(pull) => Ok(PullNumber(pull.number)),
            // There is one already, or nobody knows.
            Err(error @ (ForgeError::Moved(_) | ForgeError::Unknown)) => {
                let call = self.call(&routes::PULLS, []).with("state", "open");
                let pulls = hand.pages(&call, "the open pulls", |page: Vec<Pull>| page).await?.items;
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

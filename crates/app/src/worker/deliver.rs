//! Delivers the work of a worker with the author identity: the worker itself has no token (DSP-15, DSP-18).

use std::time::Duration;

use async_trait::async_trait;
use referee_core::model::{Answer, Login, PullNumber, Sha, WorkResult};
use referee_core::plan::{Delivery, JobKind};
use referee_forge::{BranchTip, Forge, ForgeError, Permit, Recovery};
use referee_git::{BranchPush, Credentials, GitError};
use referee_http::Token;
use referee_turn::{
    ClaimedWorker, DeliveryFailure, DeliveryOutcome, DeliveryTarget, Turn, TurnContext, TurnError, deliver,
    post_answers,
};
use url::Url;

use crate::session::site::RemoteSite;
use crate::session::source::GitSource;

/// The author identity: the account that pushes and opens pulls.
#[derive(Debug)]
pub(crate) struct PushIdentity<'a> {
    pub(crate) site: &'a RemoteSite,
    pub(crate) login: &'a Login,
    pub(crate) token: &'a Token,
}

/// The outcome of delivering a worker's result.
#[derive(Debug)]
pub(crate) struct WorkDelivery {
    pub(crate) delivered: DeliveryOutcome,
    /// The turn that posted the answers. `None` if there were none, or if the head they refer to is not on the pull.
    pub(crate) answered: Option<Result<Turn, TurnError>>,
}

/// Delivers a worker's commits, records its outcome, then posts its answers. The claim is still held afterwards.
pub(crate) async fn deliver_work(
    desk: &TurnContext<'_>,
    texts: &GitSource,
    forge: &dyn Forge,
    author: &PushIdentity<'_>,
    held: &ClaimedWorker,
    result: &WorkResult,
    answers: Vec<Answer>,
) -> Result<WorkDelivery, TurnError> {
    let BranchTip { name: default, commit: tip } = forge.fetch_default_branch().await?;
    let to = PushTarget { author, forge, texts, default_branch: &default, pull: PullNumber(held.job.number) };
    let pull = PullNumber(held.job.number);
    let delivered = deliver(desk, held, result, &tip, &to).await?;
    let head = match &delivered.delivery {
        Some(Delivery::Push { commit, .. }) => Some(commit),
        Some(Delivery::OpenPull { .. }) => None,
        // Without a commit the answers refer to the head that the worker started from.
        None => Some(&result.started_at).filter(|_| delivered.refused.is_empty()),
    };
    let mut answered = None;
    if let Some(head) = head.filter(|_| !answers.is_empty() && result.kind != JobKind::Impl)
        && wait_for_head(forge, pull, head).await
    {
        answered = Some(post_answers(desk, pull, answers).await);
    }
    Ok(WorkDelivery { delivered, answered })
}

/// After a push, a server shows the new head with a delay. Ten seconds are enough.
const HEAD_POLL_ATTEMPTS: usize = 20;
const HEAD_POLL_INTERVAL: Duration = Duration::from_millis(500);

async fn wait_for_head(forge: &dyn Forge, pull: PullNumber, head: &Sha) -> bool {
    for attempts_left in (0..HEAD_POLL_ATTEMPTS).rev() {
        if forge.fetch_head(pull).await.is_ok_and(|shown| shown == *head) {
            return true;
        }
        if attempts_left > 0 {
            tokio::time::sleep(HEAD_POLL_INTERVAL).await;
        }
    }
    false
}

/// The forge and repository that a delivery goes to.
struct PushTarget<'a> {
    author: &'a PushIdentity<'a>,
    forge: &'a dyn Forge,
    texts: &'a GitSource,
    default_branch: &'a str,
    pull: PullNumber,
}

#[async_trait]
impl DeliveryTarget for PushTarget<'_> {
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, DeliveryFailure> {
        let mut done = delivery.clone();
        match &mut done {
            Delivery::Push { commit, over, epoch: _ } => self.push_to_pull(self.pull, commit, over).await?,
            Delivery::OpenPull { branch, commit, epoch, .. } => {
                self.push_new_branch(branch, commit, *epoch)?;
                let opened = open_or_find_pull(self.forge, &done, self.author.login, permit).await;
                opened.map_err(|error| DeliveryFailure(error.to_string()))?;
            }
        }
        Ok(done)
    }
}

impl PushTarget<'_> {
    /// Pushes to a new branch. If the branch exists, from an interrupted run or another person, it stays untouched and the
    /// name gets the epoch as suffix.
    fn push_new_branch(&self, branch: &mut String, commit: &Sha, epoch: u64) -> Result<(), DeliveryFailure> {
        if !branch.starts_with("referee/") {
            return Err(DeliveryFailure(format!("`{branch}` is not a worker's branch: it must start with `referee/`")));
        }
        let repo = self.author.site.repo.to_string();
        let mut sent = self.push_branch(&repo, branch, commit, None);
        if matches!(sent, Err(GitError::BranchMoved { .. })) {
            *branch = format!("{branch}-{epoch}");
            sent = self.push_branch(&repo, branch, commit, None);
        }
        sent.map_err(from_git_error)
    }

    /// Pushes to the pull's branch, which may be in a fork, if its tip is still `over`.
    async fn push_to_pull(&self, pull: PullNumber, commit: &Sha, over: &Sha) -> Result<(), DeliveryFailure> {
        let listed = self.forge.list_open_pulls().await.map_err(|error| DeliveryFailure(error.to_string()))?;
        let Some(listed) = listed.into_iter().find(|it| it.number == pull) else {
            return Err(DeliveryFailure("the pull is not open".to_owned()));
        };
        let own = self.author.site.repo.to_string();
        let from =
            listed.head_repo.ok_or_else(|| DeliveryFailure("the repository it comes from is gone".to_owned()))?;
        let is_here = from.eq_ignore_ascii_case(&own);
        if is_here && (listed.head_branch == self.default_branch || listed.head_branch == listed.base) {
            return Err(DeliveryFailure(format!("nobody but a person pushes to `{}`", listed.head_branch)));
        }
        self.push_branch(&from, &listed.head_branch, commit, Some(over)).map_err(from_git_error)
    }

    fn push_branch(&self, repo: &str, branch: &str, commit: &Sha, over: Option<&Sha>) -> Result<(), GitError> {
        let PushIdentity { site, login, token } = self.author;
        let url = format!("{}/{repo}.git", site.server.as_str().trim_end_matches('/'));
        let credentials = Credentials {
            ca_file: site.ca.clone(),
            proxy: site.proxy.as_ref().map(Url::to_string),
            ..Credentials::new(login.as_str(), token.reveal())
        };
        self.texts.git().push_commit(&BranchPush { url: &url, branch, commit, expected: over }, Some(&credentials))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped so")]
fn from_git_error(error: GitError) -> DeliveryFailure {
    DeliveryFailure(error.to_string())
}

/// Opens a pull. After an unknown outcome the second call finds the pull if the first one opened it.
async fn open_or_find_pull(
    forge: &dyn Forge,
    delivery: &Delivery,
    by: &Login,
    permit: &Permit,
) -> Result<(), ForgeError> {
    match forge.open_pull(delivery, by, permit).await {
        Err(error) if error.recovery() == Recovery::Reread => forge.open_pull(delivery, by, permit).await.map(drop),
        answered => answered.map(drop),
    }
}

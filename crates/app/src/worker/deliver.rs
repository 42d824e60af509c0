//! Pushing for a worker, by the author identity: the worker itself has no token (DSP-15, DSP-18).

use std::time::Duration;

use async_trait::async_trait;
use referee_core::model::{Answer, Login, PullNumber, Sha, WorkResult};
use referee_core::plan::{Delivery, JobKind};
use referee_forge::{Duty, Forge, ForgeError, Permit, Reader};
use referee_git::{Credentials, GitError, Push};
use referee_http::Token;
use referee_turn::{Delivered, DeliveryTarget, Desk, Held, Turn, TurnError, Undelivered, answer, deliver};
use url::Url;

use crate::hosted::Hosted;
use crate::reach::Site;
use crate::source::Texts;

/// Who pushes, and where to.
#[derive(Debug)]
pub(crate) struct Author<'a> {
    /// The repository.
    pub(crate) site: &'a Site,
    /// The fixing side's own name.
    pub(crate) login: &'a Login,
    /// Its token.
    pub(crate) token: &'a Token,
}

/// What came of a worker's work.
#[derive(Debug)]
pub(crate) struct Handed {
    /// What became of what it left.
    pub(crate) delivered: Delivered,
    /// What became of its answers; none where there were none, or where they would answer for a head that is not there.
    pub(crate) answered: Option<Result<Turn, TurnError>>,
}

/// Delivers what a worker left, records how it ended, then says its answers. The claim is still held afterwards.
pub(crate) async fn hand_in(
    desk: &Desk<'_>,
    texts: &Texts,
    forge: &Hosted,
    author: &Author<'_>,
    held: &Held,
    result: &WorkResult,
    answers: Vec<Answer>,
) -> Result<Handed, TurnError> {
    let (default, tip) = forge.default_tip().await?;
    let to = Repository { author, forge, texts, default: &default, pull: PullNumber(held.job.number) };
    let pull = PullNumber(held.job.number);
    let delivered = deliver(desk, held, result, &tip, &to).await?;
    let head = match &delivered.delivery {
        Some(Delivery::Push { commit, .. }) => Some(commit),
        Some(Delivery::OpenPull { .. }) => None,
        // Words alone answer for the head that the worker looked at.
        None => Some(&result.started_at).filter(|_| delivered.refused.is_empty()),
    };
    let mut answered = None;
    if let Some(head) = head.filter(|_| !answers.is_empty() && result.kind != JobKind::Impl)
        && is_shown(forge, pull, head).await
    {
        answered = Some(answer(desk, pull, answers).await);
    }
    Ok(Handed { delivered, answered })
}

/// A server takes a moment to show what was pushed; longer than this is no moment.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);

async fn is_shown(forge: &Hosted, pull: PullNumber, head: &Sha) -> bool {
    for left in (0..LOOKS).rev() {
        if forge.head(pull).await.is_ok_and(|shown| shown == *head) {
            return true;
        }
        if left > 0 {
            tokio::time::sleep(PAUSE).await;
        }
    }
    false
}

/// Where a delivery goes.
struct Repository<'a> {
    author: &'a Author<'a>,
    forge: &'a Hosted,
    texts: &'a Texts,
    default: &'a str,
    pull: PullNumber,
}

#[async_trait]
impl DeliveryTarget for Repository<'_> {
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, Undelivered> {
        let mut done = delivery.clone();
        match &mut done {
            Delivery::Push { commit, over, epoch: _ } => self.push(self.pull, commit, over).await?,
            Delivery::OpenPull { branch, commit, epoch, .. } => {
                self.push_new(branch, commit, *epoch)?;
                self.open(&done, permit).await?;
            }
        }
        Ok(done)
    }
}

impl Repository<'_> {
    /// To a branch of its own. One that is there already, left by a run that was cut off or made by somebody, stays as it
    /// is.
    fn push_new(&self, branch: &mut String, commit: &Sha, epoch: u64) -> Result<(), Undelivered> {
        if !branch.starts_with("referee/") {
            return Err(Undelivered(format!("`{branch}` is no branch of a worker")));
        }
        let repo = self.author.site.repo.to_string();
        let mut sent = self.send(&repo, branch, commit, None);
        if matches!(sent, Err(GitError::Moved { .. })) {
            *branch = format!("{branch}-{epoch}");
            sent = self.send(&repo, branch, commit, None);
        }
        sent.map_err(undelivered)
    }

    /// To the pull's own branch, wherever that is, if it is where it was.
    async fn push(&self, pull: PullNumber, commit: &Sha, over: &Sha) -> Result<(), Undelivered> {
        let listed = self.forge.open_pulls().await.map_err(|error| Undelivered(error.to_string()))?;
        let Some(listed) = listed.into_iter().find(|it| it.number == pull) else {
            return Err(Undelivered("the pull is not open".to_owned()));
        };
        let own = self.author.site.repo.to_string();
        let from = listed.from.ok_or_else(|| Undelivered("the repository it comes from is gone".to_owned()))?;
        let is_here = from.eq_ignore_ascii_case(&own);
        if is_here && (listed.branch == self.default || listed.branch == listed.base) {
            return Err(Undelivered(format!("nobody but a person pushes to `{}`", listed.branch)));
        }
        self.send(&from, &listed.branch, commit, Some(over)).map_err(undelivered)
    }

    fn send(&self, repo: &str, branch: &str, commit: &Sha, over: Option<&Sha>) -> Result<(), GitError> {
        let Author { site, login, token } = self.author;
        let url = format!("{}/{repo}.git", site.server.as_str().trim_end_matches('/'));
        let credentials = Credentials {
            ca: site.ca.clone(),
            proxy: site.proxy.as_ref().map(Url::to_string),
            ..Credentials::new(login.as_str(), token.reveal())
        };
        self.texts.git().push_commit(&Push { url: &url, branch, commit, over }, Some(&credentials))
    }

    /// By the author identity, whoever reads.
    async fn open(&self, delivery: &Delivery, permit: &Permit) -> Result<(), Undelivered> {
        let told = |error: ForgeError| Undelivered(error.to_string());
        if self.forge.login() == *self.author.login {
            return open(self.forge, delivery, permit).await.map_err(told);
        }
        let site = Site { token: self.author.token.clone(), ..self.author.site.clone() };
        let reach = site.reach().map_err(|_| Undelivered("the forge cannot be reached".to_owned()))?;
        let forge = Hosted::open(&site, reach, None).await.map_err(told)?;
        open(&forge, delivery, permit).await.map_err(told)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped so")]
fn undelivered(error: GitError) -> Undelivered {
    Undelivered(error.to_string())
}

/// Opens a pull, or finds the one that is open: where nobody knows, asking again is looking.
async fn open(forge: &Hosted, delivery: &Delivery, permit: &Permit) -> Result<(), ForgeError> {
    match forge.open_pull(delivery, permit).await {
        Err(error) if error.duty() == Duty::Reread => forge.open_pull(delivery, permit).await.map(drop),
        answered => answered.map(drop),
    }
}

//! A forge on a server, as one run knows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use referee_core::model::{Access, Author, Board, Login, Pull, PullNumber, ReviewWeight, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, GiteaForge, GiteaServerInfo,
    OpenPullSummary, PerformOutcome, Permit, ProbedServer, Reader, RepoAddress,
};
use referee_http::{ClientOptions, RequestCounts, Token};

use crate::session::site::Site;
use crate::session::source::lock;
use crate::shelf::Files;

/// A forge on a server. What was just read is not read again, until something is written or time goes by.
#[derive(Debug)]
pub(crate) struct Hosted {
    forge: GiteaForge,
    address: RepoAddress,
    token: Token,
    /// Who counts as having write access where the server does not say (D10).
    writers: BTreeSet<Login>,
    seen: Mutex<Option<(Instant, FetchedPull)>>,
    /// What left through other clients.
    spent: RequestCounts,
}

/// How long what was read is as good as read again: about as long as reading takes.
const FRESH: Duration = Duration::from_secs(5);

impl Hosted {
    /// A repository, asked by its first token.
    pub(crate) async fn open(
        site: &Site,
        reach: ClientOptions,
        known: Option<ProbedServer>,
    ) -> Result<Self, ForgeError> {
        let address =
            RepoAddress { client_options: reach, owner: site.repo.owner.clone(), repo: site.repo.name.clone() };
        let token = site.token.clone();
        let forge = shelved(GiteaForge::open(&address, vec![(None, token.clone())], known).await?);
        let (writers, spent) = (BTreeSet::new(), RequestCounts::default());
        Ok(Self { forge, address, token, writers, seen: Mutex::new(None), spent })
    }

    /// The same, where so much had left before it was opened.
    pub(crate) fn after(self, spent: RequestCounts) -> Self {
        Self { spent, ..self }
    }

    /// From here on it speaks for these identities too, and these people count as having write access where the server
    /// does not say. The names of the identities, in their order.
    pub(crate) async fn speak(
        &mut self,
        identities: Vec<(Option<Login>, Token)>,
        writers: BTreeSet<Login>,
    ) -> Result<Vec<Login>, ForgeError> {
        let mut hands = vec![(self.login(), self.token.clone())];
        let mut logins = Vec::new();
        for (login, token) in identities {
            let login = match login {
                Some(login) => login,
                None => self.whose(&token).await?,
            };
            logins.push(login.clone());
            if hands.iter().all(|(held, _)| *held != login) {
                hands.push((login, token));
            }
        }
        if hands.len() > 1 {
            self.spent = sum(self.spent, self.forge.count_requests());
            let names = hands.iter().map(|(login, _)| login.clone()).collect();
            let known = ProbedServer { server: self.forge.server().clone(), logins: names };
            let hands = hands.into_iter().map(|(login, token)| (Some(login), token)).collect();
            self.forge = shelved(GiteaForge::open(&self.address, hands, Some(known)).await?);
        }
        if let Some((_, fetched)) = &mut *lock(&self.seen) {
            fetched.viewer.holds.extend(logins.iter().cloned());
            trust(fetched, &writers);
        }
        self.writers = writers;
        Ok(logins)
    }

    /// Whose token it is.
    async fn whose(&mut self, token: &Token) -> Result<Login, ForgeError> {
        let alone = GiteaForge::open(&self.address, vec![(None, token.clone())], None).await?;
        self.spent = sum(self.spent, alone.count_requests());
        alone.probed_server().logins.into_iter().next().ok_or(ForgeError::Unauthenticated)
    }

    /// The own name.
    pub(crate) fn login(&self) -> Login {
        self.forge.probed_server().logins.into_iter().next().unwrap_or_else(|| Login(String::new()))
    }

    /// What was found out when it was opened.
    pub(crate) fn known(&self) -> ProbedServer {
        self.forge.probed_server()
    }

    /// The server.
    pub(crate) fn server(&self) -> &GiteaServerInfo {
        self.forge.server()
    }

    /// The open pulls.
    pub(crate) async fn open_pulls(&self) -> Result<Vec<OpenPullSummary>, ForgeError> {
        self.forge.list_open_pulls().await
    }

    /// The default branch and its last commit.
    pub(crate) async fn default_tip(&self) -> Result<(String, Sha), ForgeError> {
        self.forge.fetch_default_tip().await
    }

    /// The repository's labels by their ids.
    pub(crate) async fn labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        self.forge.fetch_labels().await
    }

    /// The branch and commit whose config counts.
    pub(crate) async fn trusted(&self, pull: &Pull) -> Result<(String, Sha), ForgeError> {
        self.forge.resolve_trusted_commit(pull).await
    }

    /// How many requests left so far.
    pub(crate) fn calls(&self) -> RequestCounts {
        sum(self.spent, self.forge.count_requests())
    }

    fn saw(&self, mut fetched: FetchedPull) -> FetchedPull {
        trust(&mut fetched, &self.writers);
        *lock(&self.seen) = Some((Instant::now(), fetched.clone()));
        fetched
    }

    fn forget(&self) {
        *lock(&self.seen) = None;
    }
}

#[async_trait::async_trait]
impl Reader for Hosted {
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        if let Some((at, fetched)) = &*lock(&self.seen)
            && fetched.pull.number == pull
            && at.elapsed() < FRESH
        {
            return Ok(fetched.clone());
        }
        self.forget();
        Ok(self.saw(self.forge.fetch(pull).await?))
    }

    async fn fetch_fresh(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        self.forget();
        Ok(self.saw(self.forge.fetch_fresh(pull).await?))
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.forget();
        self.forge.fetch_head(pull).await
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.forge.fetch_board().await
    }

    async fn fetch_board_and_pulls(&self) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        let (board, mut pulls) = self.forge.fetch_board_and_pulls().await?;
        pulls.iter_mut().for_each(|fetched| trust(fetched, &self.writers));
        Ok((board, pulls))
    }

    async fn may_push(&self, pull: PullNumber, by: &Login) -> Result<bool, ForgeError> {
        self.forge.may_push(pull, by).await
    }
}

#[async_trait::async_trait]
impl Forge for Hosted {
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.forget();
        self.forge.perform(pull, errand).await
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.forget();
        self.forge.acquire_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.forge.release_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.forge.open_pull(delivery, permit).await
    }
}

/// What it reads is left in the user's cache folder, where there is one.
fn shelved(forge: GiteaForge) -> GiteaForge {
    match Files::of_user() {
        Some(files) => forge.with_shelf(Arc::new(files)),
        None => forge,
    }
}

fn sum(one: RequestCounts, other: RequestCounts) -> RequestCounts {
    RequestCounts { reads: one.reads + other.reads, writes: one.writes + other.writes }
}

/// Where the server does not say what somebody may do, `[people] write` does.
fn trust(fetched: &mut FetchedPull, writers: &BTreeSet<Login>) {
    let dismissed = |counts| match counts {
        &mut ReviewWeight::Dismissed { ref mut by, .. } => by.as_mut(),
        _ => None,
    };
    let reviews = fetched
        .reviews
        .iter_mut()
        .flat_map(|review| std::iter::once(&mut review.author).chain(dismissed(&mut review.counts)));
    let threads = fetched.threads.iter_mut().flat_map(|thread| {
        let notes = thread.notes.iter_mut().map(|note| &mut note.author);
        notes.chain(thread.resolved.as_mut().map(|resolution| &mut resolution.by))
    });
    let comments = fetched.comments.iter_mut().map(|comment| &mut comment.author);
    let people = reviews.chain(threads).chain(comments).chain([&mut fetched.pull.author]);
    for Author { login, access, .. } in people {
        if *access == Access::Unknown && login.as_ref().is_some_and(|login| writers.contains(login)) {
            *access = Access::Write;
        }
    }
}

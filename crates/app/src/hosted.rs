//! A forge on a server, as one run knows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use referee_core::model::{Access, Author, Board, Counts, Login, Pull, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{
    Address, Claimed, Errand, Fetched, Forge, ForgeError, GiteaForge, Known, Listed, Performed, Permit, Purpose,
    Reader, Server,
};
use referee_http::{Calls, Reach, Token};

use crate::reach::Site;
use crate::shelf::Files;
use crate::source::locked;

/// A forge on a server. What was just read is not read again, until something is written or time goes by.
#[derive(Debug)]
pub(crate) struct Hosted {
    forge: GiteaForge,
    address: Address,
    token: Token,
    /// Who counts as having write access where the server does not say (D10).
    writers: BTreeSet<Login>,
    seen: Mutex<Option<(Instant, Fetched)>>,
    /// What left through other clients.
    spent: Calls,
}

/// How long what was read is as good as read again: about as long as reading takes.
const FRESH: Duration = Duration::from_secs(5);

impl Hosted {
    /// A repository, asked by its first token.
    pub(crate) async fn open(site: &Site, reach: Reach, known: Option<Known>) -> Result<Self, ForgeError> {
        let address = Address { reach, owner: site.repo.owner.clone(), repo: site.repo.name.clone() };
        let token = site.token.clone();
        let forge = shelved(GiteaForge::open(&address, vec![(None, token.clone())], known).await?);
        let (writers, spent) = (BTreeSet::new(), Calls::default());
        Ok(Self { forge, address, token, writers, seen: Mutex::new(None), spent })
    }

    /// The same, where so much had left before it was opened.
    pub(crate) fn after(self, spent: Calls) -> Self {
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
            self.spent = sum(self.spent, self.forge.calls());
            let names = hands.iter().map(|(login, _)| login.clone()).collect();
            let known = Known { server: self.forge.server().clone(), logins: names };
            let hands = hands.into_iter().map(|(login, token)| (Some(login), token)).collect();
            self.forge = shelved(GiteaForge::open(&self.address, hands, Some(known)).await?);
        }
        if let Some((_, fetched)) = &mut *locked(&self.seen) {
            fetched.viewer.holds.extend(logins.iter().cloned());
            trust(fetched, &writers);
        }
        self.writers = writers;
        Ok(logins)
    }

    /// Whose token it is.
    async fn whose(&mut self, token: &Token) -> Result<Login, ForgeError> {
        let alone = GiteaForge::open(&self.address, vec![(None, token.clone())], None).await?;
        self.spent = sum(self.spent, alone.calls());
        alone.known().logins.into_iter().next().ok_or(ForgeError::Unauthenticated)
    }

    /// The own name.
    pub(crate) fn login(&self) -> Login {
        self.forge.known().logins.into_iter().next().unwrap_or_else(|| Login(String::new()))
    }

    /// What was found out when it was opened.
    pub(crate) fn known(&self) -> Known {
        self.forge.known()
    }

    /// The server.
    pub(crate) fn server(&self) -> &Server {
        self.forge.server()
    }

    /// The open pulls.
    pub(crate) async fn open_pulls(&self) -> Result<Vec<Listed>, ForgeError> {
        self.forge.open_pulls().await
    }

    /// The default branch and its last commit.
    pub(crate) async fn default_tip(&self) -> Result<(String, Sha), ForgeError> {
        self.forge.default_tip().await
    }

    /// The repository's labels by their ids.
    pub(crate) async fn labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        self.forge.labels().await
    }

    /// The branch and commit whose config counts.
    pub(crate) async fn trusted(&self, pull: &Pull) -> Result<(String, Sha), ForgeError> {
        self.forge.trusted(pull).await
    }

    /// How many requests left so far.
    pub(crate) fn calls(&self) -> Calls {
        sum(self.spent, self.forge.calls())
    }

    fn saw(&self, mut fetched: Fetched) -> Fetched {
        trust(&mut fetched, &self.writers);
        *locked(&self.seen) = Some((Instant::now(), fetched.clone()));
        fetched
    }

    fn forget(&self) {
        *locked(&self.seen) = None;
    }
}

#[async_trait::async_trait]
impl Reader for Hosted {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        if let Some((at, fetched)) = &*locked(&self.seen)
            && fetched.pull.number == pull
            && at.elapsed() < FRESH
        {
            return Ok(fetched.clone());
        }
        self.forget();
        Ok(self.saw(self.forge.fetch(pull).await?))
    }

    async fn fetch_anew(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.forget();
        Ok(self.saw(self.forge.fetch_anew(pull).await?))
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.forget();
        self.forge.head(pull).await
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.forge.board().await
    }

    async fn survey(&self) -> Result<(Board, Vec<Fetched>), ForgeError> {
        let (board, mut pulls) = self.forge.survey().await?;
        pulls.iter_mut().for_each(|fetched| trust(fetched, &self.writers));
        Ok((board, pulls))
    }

    async fn may_push(&self, pull: PullNumber, by: &Login) -> Result<bool, ForgeError> {
        self.forge.may_push(pull, by).await
    }
}

#[async_trait::async_trait]
impl Forge for Hosted {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        self.forget();
        self.forge.perform(pull, errand).await
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.forget();
        self.forge.claim(pull, purpose, ttl).await
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.forge.release(pull, purpose, epoch).await
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

fn sum(one: Calls, other: Calls) -> Calls {
    Calls { reads: one.reads + other.reads, writes: one.writes + other.writes }
}

/// Where the server does not say what somebody may do, `[people] write` does.
fn trust(fetched: &mut Fetched, writers: &BTreeSet<Login>) {
    let dismissed = |counts| match counts {
        &mut Counts::Dismissed { ref mut by, .. } => by.as_mut(),
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

use std::sync::Arc;

use referee_core::model::{Access, CommentId, Login, PullNumber, ReviewId, Sha, ThreadId};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use referee_forge::Forge;

use super::setup::{ContractSetup, CreatedCounts, StagedPull};
use crate::person::WorldPerson;
use crate::world::{CallFault, FaultAt, Quirks, World, WorldClient};

const FILE: &str = "src/a.rs";

/// The token of the identity under test, which must not appear in any error.
const TOKEN: &str = "token-of-referee";

/// A setup over an in-memory world, for any adapter that ends there: the `WorldClient` itself, or an HTTP client of a
/// server that speaks a forge's API over the world.
pub struct WorldSetup<F> {
    world: World,
    me: Login,
    forge: F,
    adapter: Box<dyn Fn(WorldClient) -> F>,
}

impl<F> WorldSetup<F> {
    /// Creates a world whose clients are wrapped by `adapter`.
    pub fn new(quirks: Quirks, adapter: impl Fn(WorldClient) -> F + 'static) -> Self {
        let world = World::new(quirks);
        for person in ["alice", "ruth"] {
            world.admit(person, Access::Write);
        }
        let client = world.client("referee");
        Self { world, me: client.login().clone(), forge: adapter(client), adapter: Box::new(adapter) }
    }

    fn person_on(&self, login: &str, pull: PullNumber) -> WorldPerson {
        self.world.people().on(pull).as_(login)
    }
}

impl<F: Forge + 'static> ContractSetup for WorldSetup<F> {
    fn forge(&self) -> &dyn Forge {
        &self.forge
    }

    fn own_login(&self) -> Login {
        self.me.clone()
    }

    async fn open_pull(&self) -> Result<StagedPull, String> {
        let branch = format!("feature-{}", self.world.newest_pull().unwrap_or_default().0);
        let pull =
            self.world.people().as_("alice").open_pull(&branch, &[(FILE, "fn one() {}\nfn two() {}\nfn three() {}\n")]);
        let place = |line| DiffLocation { path: FILE.to_owned(), line: Some(line), start_line: None, side: Side::New };
        let head = self.person_on("alice", pull).head();
        Ok(StagedPull { pull, head, commentable_lines: [1, 2, 3].map(place), missing_line: place(999) })
    }

    async fn push_commit(&self, pull: PullNumber) -> Result<Sha, String> {
        Ok(self.person_on("alice", pull).push(FILE, |text| format!("{text}fn four() {{}}\n")))
    }

    async fn post_comment(&self, pull: PullNumber, text: &str) -> Result<CommentId, String> {
        Ok(self.person_on("ruth", pull).comment(text))
    }

    async fn post_review(&self, pull: PullNumber, text: &str) -> Result<ReviewId, String> {
        Ok(self.person_on("ruth", pull).review_without_verdict(text))
    }

    async fn open_thread(&self, pull: PullNumber, location: &DiffLocation, text: &str) -> Result<ThreadId, String> {
        Ok(self.person_on("ruth", pull).open_thread(&location.path, location.line.unwrap_or(1), text))
    }

    async fn add_label(&self, pull: PullNumber) -> Result<String, String> {
        self.person_on("ruth", pull).label("wip");
        Ok("wip".to_owned())
    }

    async fn fill_pages(&self, staged: &StagedPull) -> Result<CreatedCounts, String> {
        let ruth = self.person_on("ruth", staged.pull);
        for n in 0..120_u32 {
            ruth.review_without_verdict(&format!("remark {n}"));
            ruth.open_thread(FILE, n % 3 + 1, &format!("note {n}"));
            ruth.comment(&format!("comment {n}"));
        }
        Ok(CreatedCounts { reviews: 120, threads: 120, comments: 120 })
    }

    async fn with_low_limit(&self, _: PullNumber) -> Option<Arc<dyn Forge>> {
        self.world.inject_fault(FaultAt::Call(1), CallFault::Truncate);
        Some(Arc::new((self.adapter)(self.world.client("referee"))))
    }

    async fn with_bad_token(&self) -> Option<Arc<dyn Forge>> {
        let client = self.world.client("referee");
        self.world.revoke_token(&client);
        Some(Arc::new((self.adapter)(client)))
    }

    async fn as_outsider(&self) -> Option<(Arc<dyn Forge>, Login)> {
        self.world.admit_bot("passer-by", Access::Read);
        Some((Arc::new((self.adapter)(self.world.client("passer-by"))), Login::from("passer-by")))
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }
}

impl<F> Drop for WorldSetup<F> {
    fn drop(&mut self) {
        // The suite reads every effect back through the forge.
        drop(self.world.take_effects());
    }
}

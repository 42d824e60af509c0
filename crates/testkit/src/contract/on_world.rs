use referee_core::model::{Access, CommentId, Login, PullNumber, ReviewId, Sha, ThreadId};
use referee_core::plan::Place;
use referee_core::track::Side;
use referee_forge::Forge;

use super::stage::{Made, Stage, Staged};
use crate::hand::Person;
use crate::world::{At, Fault, Quirks, Seat, World};

const FILE: &str = "src/a.rs";

/// What stands for the token of the identity under test: it must show nowhere.
const TOKEN: &str = "token-of-referee";

/// A world in memory as a stage, for any adapter that ends there: the seat itself, or a client of a server that
/// speaks some forge's dialect over it.
pub struct OnWorld<F> {
    world: World,
    me: Login,
    forge: F,
    adapter: Box<dyn Fn(Seat) -> F>,
}

impl<F> OnWorld<F> {
    /// A world whose seats are reached through an adapter.
    pub fn new(quirks: Quirks, adapter: impl Fn(Seat) -> F + 'static) -> Self {
        let world = World::new(quirks);
        for person in ["alice", "ruth"] {
            world.admit(person, Access::Write);
        }
        let seat = world.seat("referee");
        Self { world, me: seat.login().clone(), forge: adapter(seat), adapter: Box::new(adapter) }
    }

    fn as_(&self, login: &str, pull: PullNumber) -> Person {
        self.world.hand().on(pull).as_(login)
    }
}

impl<F: Forge> Stage for OnWorld<F> {
    type Forge = F;

    fn forge(&self) -> &F {
        &self.forge
    }

    fn me(&self) -> Login {
        self.me.clone()
    }

    async fn pull(&self) -> Result<Staged, String> {
        let branch = format!("feature-{}", self.world.newest_pull().unwrap_or_default().0);
        let pull = self.world.hand().as_("alice").open(&branch, &[(FILE, "fn one() {}\nfn two() {}\nfn three() {}\n")]);
        let place = |line| Place { path: FILE.to_owned(), line: Some(line), start_line: None, side: Side::New };
        let head = self.as_("alice", pull).head();
        Ok(Staged { pull, head, places: [1, 2, 3].map(place), nowhere: place(999) })
    }

    async fn push(&self, pull: PullNumber) -> Result<Sha, String> {
        Ok(self.as_("alice", pull).push(FILE, |text| format!("{text}fn four() {{}}\n")))
    }

    async fn comment(&self, pull: PullNumber, text: &str) -> Result<CommentId, String> {
        Ok(self.as_("ruth", pull).comment(text))
    }

    async fn review(&self, pull: PullNumber, text: &str) -> Result<ReviewId, String> {
        Ok(self.as_("ruth", pull).remark(text))
    }

    async fn thread(&self, pull: PullNumber, place: &Place, text: &str) -> Result<ThreadId, String> {
        Ok(self.as_("ruth", pull).note(&place.path, place.line.unwrap_or(1), text))
    }

    async fn label(&self, pull: PullNumber) -> Result<String, String> {
        self.as_("ruth", pull).label("wip");
        Ok("wip".to_owned())
    }

    async fn many(&self, staged: &Staged) -> Result<Made, String> {
        let ruth = self.as_("ruth", staged.pull);
        for n in 0..120_u32 {
            ruth.remark(&format!("remark {n}"));
            ruth.note(FILE, n % 3 + 1, &format!("note {n}"));
            ruth.comment(&format!("comment {n}"));
        }
        Ok(Made { reviews: 120, threads: 120, comments: 120 })
    }

    async fn cut_off(&self, _: PullNumber) -> Option<F> {
        self.world.fault(At::Call(1), Fault::Truncate);
        Some((self.adapter)(self.world.seat("referee")))
    }

    async fn with_bad_token(&self) -> Option<F> {
        let seat = self.world.seat("referee");
        self.world.revoke(&seat);
        Some((self.adapter)(seat))
    }

    async fn as_outsider(&self) -> Option<(F, Login)> {
        self.world.admit_bot("passer-by", Access::Read);
        Some(((self.adapter)(self.world.seat("passer-by")), Login::from("passer-by")))
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }
}

impl<F> Drop for OnWorld<F> {
    fn drop(&mut self) {
        // The suite reads everything back through the forge: its effects were looked at.
        drop(self.world.effects());
    }
}

//! Running the worker that a pass started (DSP-14, DSP-15).
//!
//! ```text
//!  held ─► job folder ─► work copy ─► cage ─► result, commit ─► push ─► record ─► answers ─► release
//!            └───────────┴──────────────┴─────────┴─ what goes wrong here is recorded as failed
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use referee_core::decide::settle::settle;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, Sha, WorkResult};
use referee_core::plan::{Delivery, Gate, JobKind, Refusal};
use referee_turn::{Held, Outcome, Receipt, Turn, View, release};

use super::prepare::Prepared;
use super::{Found, Mode, Repository};
use crate::failure::Failure;
use crate::forge::AnyForge;
use crate::out::Out;
use crate::setup::env;
use crate::wait::wait;
use crate::worker::cage::{Beat, Cage, Ended, Limits, demanded};
use crate::worker::{Account, Author, Expected, Given, Handed, Hired, Ran, hand_in, left, read};

/// How often a line says that the worker still works.
const BEAT: Duration = Duration::from_secs(60);

impl Repository {
    /// The project's workers by what they do. What is wrong with one is told before anything is claimed.
    pub(crate) fn hire(&self, found: &Found) -> Result<BTreeMap<JobKind, Hired>, Failure> {
        let lease = self.policy.work.as_ref().map(|work| work.wip_max_age).unwrap_or_default();
        let hired = self.crew.hire(&found.file.workers, lease, &env)?;
        if !hired.is_empty() && self.gates(Mode::Run).open(Gate::Work).is_err() {
            return Err(Failure::usage("no worker runs: the gate `work` is off, and nothing of it could be pushed")
                .hint("`referee.toml` on the default branch says `work = \"ask\"`, and the operator file allows it"));
        }
        for (kind, worker) in &hired {
            demanded(worker.sandbox, &worker.egress)?;
            #[cfg(target_os = "linux")]
            installed(worker)?;
            self.prompt(found, *kind, 0, None)?;
        }
        Ok(hired)
    }

    /// Runs the worker that a pass started, and delivers what it leaves. However it ends, its claim is given back. None
    /// where nobody was hired for it: then its line is all there is.
    pub(crate) fn work(
        &self,
        held: &Held,
        hired: &BTreeMap<JobKind, Hired>,
        found: &Found,
        out: &Out,
    ) -> Result<Option<Ran>, Failure> {
        let ran = match hired.get(&held.job.kind) {
            Some(worker) => self.run_and_deliver(held, worker, found, out).map(Some),
            None => Ok(None),
        };
        let (books, gates) = (self.books(), self.gates(Mode::Run));
        wait(release(&self.desk(&books, &gates), held))?;
        ran
    }

    fn run_and_deliver(&self, held: &Held, worker: &Hired, found: &Found, out: &Out) -> Result<Ran, Failure> {
        let mut told = Told::default();
        let (mut result, answers) = self.run(held, worker, found, out, &mut told).unwrap_or_else(|why| {
            let failed = Account::failed(why);
            (self.result(held, &failed), Vec::new())
        });
        let (books, gates) = (self.books(), self.gates(Mode::Run));
        let desk = self.desk(&books, &gates);
        let author = Author { site: &self.site, login: self.user(), token: &self.author };
        let AnyForge::Hosted(forge) = &self.forge else {
            return Err(Failure::usage("a project is on a forge: a local pull has none"));
        };
        let handed = wait(hand_in(&desk, &self.texts, forge, &author, held, &result, answers))?;
        let Handed { delivered, answered } = match handed {
            Ok(handed) => handed,
            Err(error) => {
                let why = format!("what it left was not delivered: {error}");
                told.refused.push(why);
                return Ok(told.ran(held, result, true));
            }
        };
        match &delivered.delivery {
            Some(Delivery::Push { commit, .. }) => told.pushed = Some(commit.to_string()),
            Some(Delivery::OpenPull { branch, .. }) => told.opened = Some(branch.clone()),
            None => {}
        }
        result.outcome = delivered.recorded.unwrap_or(result.outcome);
        told.refused.extend(delivered.refused.iter().map(words));
        told.refused.extend(delivered.receipts.iter().filter_map(undone));
        let mut unsettled = delivered.unsettled;
        match answered {
            Some(Ok(Turn { snapshot, receipts, unsettled: later, .. })) => {
                let refused = settle(&snapshot, &self.policy).refused;
                told.refused.extend(refused.iter().filter(|it| !it.what.starts_with("resolve ")).map(words));
                told.refused.extend(receipts.iter().filter_map(undone));
                unsettled |= later;
            }
            Some(Err(error)) => {
                told.refused.push(format!("its answers were not sent: {error}"));
                unsettled = true;
            }
            None => {}
        }
        Ok(told.ran(held, result, unsettled))
    }

    /// Runs it. The error says why there is no result, in words that may stand on a pull.
    fn run(
        &self,
        held: &Held,
        worker: &Hired,
        found: &Found,
        out: &Out,
        told: &mut Told,
    ) -> Result<(WorkResult, Vec<Answer>), String> {
        // What is wrong with this machine is for whoever runs it, and nobody else.
        let not_started = |failure: Failure| {
            out.always(&failure.words());
            "it could not be started".to_owned()
        };
        let stranger = matches!(&held.view, View::Pull(snapshot) if !self.is_trusted(&snapshot.pull.author));
        let sandbox = if stranger { worker.sandbox_for_strangers() } else { worker.sandbox };
        let (tier, egress) = demanded(sandbox, &worker.egress).map_err(not_started)?;
        let Prepared { folder, copy, talk, prompt, base } = self.prepare(held, worker, found).map_err(not_started)?;
        told.log = Some(folder.log());
        let cage = Cage {
            tier,
            work: folder.work(),
            job: folder.job(),
            home: folder.home(),
            egress,
            env: worker.env.clone(),
            deadline: worker.time,
            log: folder.log(),
            limits: Limits::default(),
        };
        let about = format!("{} #{}", held.job.kind, held.job.number);
        out.say(&format!("{about} is started: `{}`, at most {}", worker.name, length(worker.time)));
        let mut next = BEAT;
        let mut tick = |beat: Beat| {
            if beat.elapsed >= next {
                next = beat.elapsed + BEAT;
                out.say(&format!("{about}, {} min, {} kB printed", beat.elapsed.as_secs() / 60, beat.printed >> 10));
            }
        };
        match cage.run(&worker.argv, &prompt, &mut tick).map_err(not_started)? {
            Ended::TimedOut => return Err(format!("it was ended after {}", length(worker.time))),
            Ended::Signalled => return Err("it was ended from outside".to_owned()),
            // Its result says how it ended, whatever its code.
            Ended::Exited(_) => {}
        }
        let given = Given::of(&worker.env);
        let expected = Expected { kind: held.job.kind, nonce: folder.nonce(), talk: &talk, given: &given };
        let account = read(&folder.result(), &expected)?;
        told.refused.extend(account.dropped.iter().cloned());
        let mut result = self.result(held, &account);
        if account.outcome == WorkOutcome::Done {
            let left = left(&self.texts, &copy, &result.started_at, &base, &given)?;
            (result.head, result.escapes) = (left.head, left.escapes);
        }
        Ok((result, account.answers))
    }

    fn result(&self, held: &Held, account: &Account) -> WorkResult {
        let Account { outcome, summary, answers: _, clean, plan, pull, dropped: _ } = account.clone();
        WorkResult {
            kind: held.job.kind,
            epoch: held.job.epoch,
            started_at: self.start_of(held).clone(),
            outcome,
            summary,
            head: None,
            patch: None,
            files: Vec::new(),
            escapes: Vec::new(),
            clean,
            plan,
            pull,
        }
    }

    /// Where the worker starts: at the pull's head, or where the default branch is.
    pub(super) fn start_of<'a>(&'a self, held: &'a Held) -> &'a Sha {
        match &held.view {
            View::Pull(snapshot) => &snapshot.pull.head,
            View::Issue(_) => &self.tip,
        }
    }
}

/// What is told of a worker, as it comes.
#[derive(Default)]
struct Told {
    log: Option<PathBuf>,
    pushed: Option<String>,
    opened: Option<String>,
    refused: Vec<String>,
}

impl Told {
    fn ran(self, held: &Held, result: WorkResult, unsettled: bool) -> Ran {
        let Self { log, pushed, opened, refused } = self;
        let (kind, number) = (held.job.kind, held.job.number);
        let WorkResult { outcome, summary, .. } = result;
        Ran { kind, number, outcome, summary, pushed, opened, refused, log, unsettled }
    }
}

fn length(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// Told before the claim: what cannot start would count as having failed.
#[cfg(target_os = "linux")]
fn installed(worker: &Hired) -> Result<(), Failure> {
    let program = worker.argv.first().map(String::as_str).unwrap_or_default();
    if crate::worker::cage::is_there(program) {
        return Ok(());
    }
    Err(Failure::usage(format!("`[workers.{}]` cannot be run: `{program}` is not on the PATH", worker.name))
        .hint("install the agent, or mend its `argv` in the operator file"))
}

fn words(refusal: &Refusal) -> String {
    format!("refused: {}: {}", refusal.what, refusal.why.facts.join(", "))
}

/// What was not done. That nobody asked for a resolution is no news: who opened a thread resolves it.
fn undone(receipt: &Receipt) -> Option<String> {
    let Receipt { outcome, action, note, .. } = receipt;
    let expected =
        matches!(outcome, Outcome::Done | Outcome::AlreadySo) || *outcome == Outcome::Withheld && *action == "resolve";
    (!expected).then(|| format!("{} {action}: {note}", outcome.name()))
}

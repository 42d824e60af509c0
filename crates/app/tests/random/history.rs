//! One random history: what authors, people, bots, linters and crashes do to a pull, with a check after every review.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::checks::{self, Breach, Truth};
use crate::dice::Dice;
use crate::planted::{Moment, Planted};
use crate::run_output::RunOutput;
use crate::site::{Act, Push, Site, Venue};
use crate::tree::{Defect, Level, SourceLine, SourceTree};
use crate::workspace::Health;

/// Heads that a history reviews.
const HEADS: usize = 9;

pub(crate) struct History {
    dice: Dice,
    venue: Venue,
    site: Box<dyn Site>,
    base: SourceTree,
    tree: SourceTree,
    /// The trees of the earlier commits, for reverts.
    past: Vec<SourceTree>,
    accepted: BTreeSet<Defect>,
    /// Patches that the role read.
    read: BTreeSet<String>,
    /// Patches at which the role asked for changes.
    rounds: BTreeSet<String>,
    /// The number of the next line, which makes its text unique.
    next_line: u32,
    planted: Option<Planted>,
    /// What happened so far, for the message of a failure.
    pub(crate) log: Vec<String>,
}

impl History {
    pub(crate) fn new(venue: Venue, seed: u64, planted: Option<Planted>) -> Self {
        let mut dice = Dice::new(seed);
        let floor = if dice.chance(50) { "floor = [\"suggestion\", \"suggestion\", \"suggestion\"]\n" } else { "" };
        let operator = if venue == Venue::Local { "Ada" } else { "carol" };
        let config = format!(
            "version = 1\n[review]\n{floor}[[role]]\nname = \"lint\"\ncommand = \"linter\"\n[threads]\nmax_resolve = 2000\n[loop]\noperator = \"{operator}\"\n"
        );
        let mut base = SourceTree::default();
        for number in 0..30 {
            let defect = Defect { number, level: Level::Suggestion };
            let line = if number % 6 == 0 { SourceLine::Defective(defect) } else { SourceLine::Plain(number) };
            base.insert(&mut dice, "legacy.py", line);
        }
        let mut tree = base.clone();
        tree.insert(&mut dice, "src/first.py", SourceLine::Defective(Defect { number: 100, level: Level::Critical }));
        let site = venue.open(&mut dice, &config, &base, &tree);
        Self {
            dice,
            venue,
            site,
            base,
            past: vec![tree.clone()],
            tree,
            accepted: BTreeSet::new(),
            read: BTreeSet::new(),
            rounds: BTreeSet::new(),
            next_line: 100,
            planted,
            log: vec![format!("on {venue:?} with the config {config}")],
        }
    }

    /// Plays the history to its end.
    pub(crate) fn play(&mut self) -> Result<(), Breach> {
        for _ in 0..HEADS {
            for _ in 0..=self.dice.below(2) {
                self.change();
            }
            // A patch that was read keeps its verdict, whatever becomes of the linter (INC-16).
            if self.dice.chance(15) && !self.read.contains(&self.site.workspace().patch_id()) {
                self.review_with_broken_linter()?;
            }
            self.review()?;
            if self.dice.chance(50) {
                self.talk();
                self.review()?;
            }
        }
        Ok(())
    }

    /// Makes a random commit.
    fn change(&mut self) {
        match self.dice.below(12) {
            0..=2 => {
                let count = 1 + self.dice.below(6);
                self.add_defects(count);
                self.commit(&format!("add {count} defects"));
            }
            3 => {
                let most = if self.venue == Venue::Local { 400 } else { 60 };
                let count = most / 4 + self.dice.below(most);
                self.add_defects(count);
                self.commit(&format!("add {count} defects"));
            }
            4..=5 => self.fix(1),
            6 => self.fix(2),
            7 => {
                for _ in 0..5 {
                    let (path, line) = (self.pick_path(), SourceLine::Plain(self.next_number()));
                    self.tree.insert(&mut self.dice, &path, line);
                }
                self.commit("insert plain lines");
            }
            8 => self.rename(),
            9 => {
                self.log.push("amend the message".to_owned());
                let message = format!("In other words {}", self.next_number());
                self.site.workspace().git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", &message]);
                self.site.publish(Push::Amend);
            }
            10 => self.revert(),
            _ => self.rebase(),
        }
    }

    fn add_defects(&mut self, count: usize) {
        let path = self.pick_path();
        for _ in 0..count {
            let level = Level::ALL[self.dice.below(3)];
            let number = self.next_number();
            self.tree.insert(&mut self.dice, &path, SourceLine::Defective(Defect { number, level }));
            let plain = SourceLine::Plain(self.next_number());
            self.tree.insert(&mut self.dice, &path, plain);
        }
    }

    /// Removes every `nth` open defect: 1 removes all.
    fn fix(&mut self, nth: usize) {
        let gone: BTreeSet<Defect> = self.open().into_iter().step_by(nth).collect();
        self.tree.remove(&gone);
        self.commit(&format!("fix {} defects", gone.len()));
    }

    fn rename(&mut self) {
        let paths: Vec<String> = self.tree.0.keys().filter(|path| !self.base.0.contains_key(*path)).cloned().collect();
        let Some(from) = self.dice.pick(&paths) else { return };
        let to = format!("src/renamed {}.py", self.next_number());
        let lines = self.tree.0.remove(&from).unwrap_or_default();
        self.tree.0.insert(to.clone(), lines);
        self.commit(&format!("rename {from} to {to}"));
    }

    /// Restores the tree before the last commit, unless that brings an accepted defect back.
    fn revert(&mut self) {
        let Some(before) = self.past.len().checked_sub(2).map(|nth| self.past[nth].clone()) else { return };
        let here = self.tree.defects();
        if before.defects().iter().all(|defect| here.contains(defect) || !self.accepted.contains(defect)) {
            self.tree = before;
            self.commit("revert the last commit");
        }
    }

    fn rebase(&mut self) {
        self.log.push("rebase on a new main".to_owned());
        let line = SourceLine::Plain(self.next_number());
        self.base.insert(&mut self.dice, "main.py", line);
        let lines = self.base.0["main.py"].clone();
        self.tree.0.insert("main.py".to_owned(), lines);
        self.past.clear();
        let workspace = self.site.workspace();
        workspace.git(&["switch", "--quiet", "main"]);
        workspace.commit_tree(&self.base, "Work on main");
        workspace.git(&["switch", "--quiet", "topic"]);
        workspace.git(&["rebase", "--quiet", "main"]);
        self.site.publish(Push::Rebase(&self.base));
    }

    fn commit(&mut self, what: &str) {
        self.log.push(what.to_owned());
        self.past.push(self.tree.clone());
        self.site.workspace().commit_tree(&self.tree, what);
        self.site.publish(Push::Commit(&self.tree));
    }

    fn pick_path(&mut self) -> String {
        let mut paths: Vec<String> = self.tree.0.keys().filter(|path| *path != "main.py").cloned().collect();
        paths.push(format!("src/new_{}.py", self.next_line));
        self.dice.pick(&paths).unwrap_or_default()
    }

    fn next_number(&mut self) -> u32 {
        self.next_line += 1;
        self.next_line
    }

    /// Returns the defects that the pull adds and nobody accepted.
    fn open(&self) -> BTreeSet<Defect> {
        let old = self.base.defects();
        let here = self.tree.defects();
        here.into_iter().filter(|defect| !old.contains(defect) && !self.accepted.contains(defect)).collect()
    }

    /// Reviews the head in a random way, then hands in the linter's report and checks what comes of it.
    fn review(&mut self) -> Result<(), Breach> {
        match self.dice.below(6) {
            0 => self.run_at_once(),
            1 => self.run_and_kill(),
            2 => self.run_disturbed(),
            3 => {
                self.log.push("review by command".to_owned());
                self.site.run(&["review"]);
            }
            _ => {}
        }
        let report = self.site.workspace().lint();
        let report = report.to_str().expect("a UTF-8 path");
        let hand_in = ["review", "--role", "lint", "--report", report, "--report-format", "sarif", "--json"];
        let reviewed = self.run(Moment::Review, &hand_in);
        self.log.push(format!("hand in the report: exit code {}", reviewed.code));
        let patch = self.site.workspace().patch_id();
        if checks::find_role(&reviewed.document())?["own"] == "request_changes" {
            self.rounds.insert(patch.clone());
        }
        self.read.insert(patch);
        let truth = self.truth();
        checks::check_document(&truth, &reviewed)?;
        let again = self.run(Moment::Repeat, &hand_in);
        checks::check_silence(&reviewed, &again)?;
        let plain = self.run(Moment::Repeat, &["review", "--json"]);
        checks::check_silence(&reviewed, &plain)?;
        let words = self.run(Moment::Words, &["review"]);
        checks::check_words(&reviewed, &words)
    }

    fn truth(&self) -> Truth {
        Truth {
            open: self.open(),
            optional: &self.accepted | &self.base.defects(),
            received: self.tree.defects().len(),
            rounds: self.rounds.len(),
        }
    }

    fn review_with_broken_linter(&mut self) -> Result<(), Breach> {
        let health = if self.dice.chance(50) { Health::Crashes } else { Health::PrintsNothing };
        self.log.push(format!("review while the linter {health:?}"));
        self.site.workspace().set_health(health);
        let failed = self.run(Moment::Failure, &["review"]);
        self.site.workspace().set_health(Health::Well);
        checks::check_failed(&failed)
    }

    fn run_at_once(&mut self) {
        self.log.push("two reviews at once".to_owned());
        let runs = [self.site.start(0, &["review"]), self.site.start(1, &["review"])];
        for run in runs {
            let ran = RunOutput::from_output(&run.wait_with_output().expect("referee runs"));
            self.log.push(format!("exit code {}", ran.code));
        }
    }

    /// Runs once while a request fails. The checked run that follows must heal what that left behind.
    fn run_disturbed(&mut self) {
        let Some(fault) = self.site.disturb(&mut self.dice) else { return };
        let code = self.site.run(&["review"]).code;
        self.site.calm();
        self.log.push(format!("review with {fault}: exit code {code}"));
    }

    fn run_and_kill(&mut self) {
        let delay = Duration::from_millis(20 + self.dice.below(400) as u64);
        self.log.push(format!("kill a review after {delay:?}"));
        let mut run = self.site.start(0, &["review"]);
        // The moment of the kill is random, so the test waits for a time and not for an event.
        let (_sender, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(delay);
        // It may have ended already.
        let _ = run.kill();
        let _ = run.wait();
    }

    /// Lets a person or a bot say something about a random finding.
    fn talk(&mut self) {
        let document = self.site.run(&["explain", "--json"]).document();
        let open: Vec<Defect> = self.open().into_iter().collect();
        let Some(defect) = self.dice.pick(&open) else { return };
        let Some(finding) = checks::find_finding(&document, defect) else { return };
        let id = finding["id"].as_str().unwrap_or_default().to_owned();
        let thread = finding["thread"].as_str();
        let act = match self.dice.below(6) {
            0 | 1 => Act::OperatorDismisses,
            2 => Act::BotSaysByDesign,
            3 => Act::BotResolves,
            4 => Act::BotDismisses,
            _ => Act::PersonBlocks,
        };
        if act == Act::OperatorDismisses {
            self.accepted.insert(defect);
        }
        let done = self.site.act(act, &id, thread);
        self.log.push(done);
    }

    fn run(&self, moment: Moment, args: &[&str]) -> RunOutput {
        let mut ran = self.site.run(args);
        if let Some(planted) = self.planted {
            planted.tamper(moment, &mut ran);
        }
        ran
    }
}

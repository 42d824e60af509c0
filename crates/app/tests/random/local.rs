//! A history in a plain repository.

use std::cell::Cell;
use std::process::Command;

use crate::dice::Dice;
use crate::site::{Act, Push, Site};
use crate::tree::SourceTree;
use crate::workspace::Workspace;

pub(crate) struct LocalSite {
    workspace: Workspace,
    /// The time that runs see, in seconds. Each run advances it.
    now: Cell<i64>,
}

impl LocalSite {
    pub(crate) fn new(config: &str, base: &SourceTree, tree: &SourceTree) -> Self {
        let site = Self { workspace: Workspace::new(config, base), now: Cell::new(1_800_000_000) };
        site.workspace.commit_tree(tree, "Begin the topic");
        site
    }
}

impl Site for LocalSite {
    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn prepare(&self, _host: usize, args: &[&str]) -> Command {
        self.now.set(self.now.get() + 60);
        let mut command = self.workspace.command(env!("CARGO_BIN_EXE_referee"), "home");
        command.args(args).env("REFEREE_TEST_NOW", self.now.get().to_string());
        command
    }

    fn publish(&self, _push: Push<'_>) {}

    fn act(&self, act: Act, id: &str, _thread: Option<&str>) -> String {
        let dismissal = format!("/referee dismiss {id} known and harmless");
        let args: &[&str] = match act {
            Act::OperatorDismisses => &["local", "comment", "L1", &dismissal],
            Act::BotSaysByDesign => &["local", "reply", "L1", id, "by design, won't fix", "--as", "renovate-bot"],
            Act::BotResolves => &["local", "resolve", "L1", id, "--as", "renovate-bot"],
            Act::BotDismisses => &["local", "comment", "L1", &dismissal, "--as", "ci-bot"],
            Act::PersonBlocks => &["local", "block", "L1", "Not like this", "--as", "bob"],
        };
        format!("{args:?}: exit code {}", self.run(args).code)
    }

    fn disturb(&self, _dice: &mut Dice) -> Option<String> {
        None
    }

    fn calm(&self) {}
}

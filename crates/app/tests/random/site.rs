//! Where a history takes place: a local repository, or a repository on a forge.

use std::process::{Child, Command, Stdio};

use crate::dice::Dice;
use crate::hosted::HostedSite;
use crate::local::LocalSite;
use crate::run_output::RunOutput;
use crate::tree::SourceTree;
use crate::workspace::Workspace;

/// A pull, and the program run on it as its users run it.
pub(crate) trait Site {
    fn workspace(&self) -> &Workspace;

    /// Adds the pull, the token and the clock to the arguments of a run. `host` 0 and 1 are different machines.
    fn prepare(&self, host: usize, args: &[&str]) -> Command;

    /// Shows the branches of the workspace to the forge after a push.
    fn publish(&self, push: Push<'_>);

    /// Lets a person or a bot act on the finding `id` with the thread `thread`.
    fn act(&self, act: Act, id: &str, thread: Option<&str>) -> String;

    /// Makes a request of the next run fail, and describes the fault.
    fn disturb(&self, dice: &mut Dice) -> Option<String>;

    /// Removes the fault of `disturb` from the proxy.
    fn calm(&self);

    fn start(&self, host: usize, args: &[&str]) -> Child {
        let mut command = self.prepare(host, args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("referee starts")
    }

    fn run(&self, args: &[&str]) -> RunOutput {
        RunOutput::from_output(&self.start(0, args).wait_with_output().expect("referee runs"))
    }
}

/// The kind of forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Venue {
    Local,
    Hosted,
}

/// A push, with the files of the new head.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Push<'a> {
    Commit(&'a SourceTree),
    Amend,
    /// Both branches moved; the tree is that of `main`.
    Rebase(&'a SourceTree),
}

/// What people and bots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    OperatorDismisses,
    BotSaysByDesign,
    BotResolves,
    BotDismisses,
    PersonBlocks,
}

impl Venue {
    pub(crate) fn open(self, dice: &mut Dice, config: &str, base: &SourceTree, tree: &SourceTree) -> Box<dyn Site> {
        match self {
            Self::Local => Box::new(LocalSite::new(config, base, tree)),
            Self::Hosted => Box::new(HostedSite::new(dice, config, base, tree)),
        }
    }
}

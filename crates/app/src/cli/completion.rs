//! `referee completion SHELL`, and the manual.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::Cli;
use crate::failure::{Ending, Failure};
use crate::out::Out;

/// Print completions for a shell, or the manual
#[derive(Debug, Args)]
pub(super) struct Completion {
    /// Which shell; `man` prints the manual page
    shell: For,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum For {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

impl Completion {
    pub(super) fn run(self, out: &Out) -> Result<Ending, Failure> {
        let shell = match self.shell {
            For::Bash => Shell::Bash,
            For::Elvish => Shell::Elvish,
            For::Fish => Shell::Fish,
            For::Powershell => Shell::PowerShell,
            For::Zsh => Shell::Zsh,
            For::Man => return manual(out),
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "referee", &mut script);
        out.data(&String::from_utf8_lossy(&script));
        Ok(Ending::Done)
    }
}

/// One page for the program, then one for each command.
fn manual(out: &Out) -> Result<Ending, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help").cloned();
    for command in std::iter::once(program.clone()).chain(commands) {
        let page = clap_mangen::Man::new(command).render(&mut pages);
        page.map_err(|error| Failure::failed(format!("the manual could not be written: {error}")))?;
    }
    out.data(&String::from_utf8_lossy(&pages));
    Ok(Ending::Done)
}

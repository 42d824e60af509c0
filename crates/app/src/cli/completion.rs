//! `referee completion SHELL`: prints shell completions or the manual page.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::Cli;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};

/// Print shell completions or the manual page
#[derive(Debug, Args)]
pub(super) struct CompletionArgs {
    /// The shell, or `man` for the manual page
    shell: CompletionTarget,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompletionTarget {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

impl CompletionArgs {
    pub(super) fn run(self, out: &Console) -> Result<CliOutcome, Failure> {
        let shell = match self.shell {
            CompletionTarget::Bash => Shell::Bash,
            CompletionTarget::Elvish => Shell::Elvish,
            CompletionTarget::Fish => Shell::Fish,
            CompletionTarget::Powershell => Shell::PowerShell,
            CompletionTarget::Zsh => Shell::Zsh,
            CompletionTarget::Man => return print_manual(out),
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "referee", &mut script);
        out.print_data(&String::from_utf8_lossy(&script));
        Ok(CliOutcome::Done)
    }
}

/// Prints one page for the program, then one for each command.
fn print_manual(out: &Console) -> Result<CliOutcome, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help").cloned();
    for command in std::iter::once(program.clone()).chain(commands) {
        let page = clap_mangen::Man::new(command).render(&mut pages);
        page.map_err(|error| Failure::failed(format!("the manual page could not be rendered: {error}")))?;
    }
    out.print_data(&String::from_utf8_lossy(&pages));
    Ok(CliOutcome::Done)
}

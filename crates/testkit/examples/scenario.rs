//! Prints a scenario's story turn by turn: `cargo run -q -p referee-testkit --example scenario -- NAME`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use std::process::ExitCode;

use referee_testkit::scenario::NAMED_SCENARIOS;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [name] = names.as_slice() else {
        if names.is_empty() {
            list();
            return ExitCode::SUCCESS;
        }
        eprintln!("error: nothing was played: one name, please\n\nhint: `list` lists the names");
        return ExitCode::from(2);
    };
    if name == "list" {
        list();
        return ExitCode::SUCCESS;
    }
    match NAMED_SCENARIOS.iter().find(|tale| tale.name == name) {
        Some(tale) => {
            print!("{}", tale.render());
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("error: nothing was played: there is no scenario `{name}`\n");
            match nearest(name) {
                Some(near) => eprintln!("hint: did you mean `{near}`?"),
                None => eprintln!("hint: `list` lists the names"),
            }
            ExitCode::from(2)
        }
    }
}

fn list() {
    for tale in NAMED_SCENARIOS {
        println!("{:<20}{}", tale.name, tale.about);
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let near = NAMED_SCENARIOS.iter().map(|tale| (distance(name, tale.name), tale.name)).min()?;
    (near.0 <= name.chars().count().max(near.1.len()) / 2).then_some(near.1)
}

/// Letters to add, leave out or change.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (column, theirs) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *theirs);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

//! Prints the transcript of a scenario turn by turn: `cargo run -q -p referee-testkit --example scenario -- NAME`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use std::process::ExitCode;

use referee_testkit::scenario::NAMED_SCENARIOS;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [name] = names.as_slice() else {
        if names.is_empty() {
            print_names();
            return ExitCode::SUCCESS;
        }
        eprintln!("error: expected exactly one scenario name\n\nhint: run with `list` to see all names");
        return ExitCode::from(2);
    };
    if name == "list" {
        print_names();
        return ExitCode::SUCCESS;
    }
    match NAMED_SCENARIOS.iter().find(|scenario| scenario.name == name) {
        Some(scenario) => {
            print!("{}", scenario.render());
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("error: no scenario is called `{name}`\n");
            match find_closest_name(name) {
                Some(closest) => eprintln!("hint: did you mean `{closest}`?"),
                None => eprintln!("hint: run with `list` to see all names"),
            }
            ExitCode::from(2)
        }
    }
}

fn print_names() {
    for scenario in NAMED_SCENARIOS {
        println!("{:<20}{}", scenario.name, scenario.about);
    }
}

fn find_closest_name(name: &str) -> Option<&'static str> {
    let closest = NAMED_SCENARIOS.iter().map(|scenario| (edit_distance(name, scenario.name), scenario.name)).min()?;
    (closest.0 <= name.chars().count().max(closest.1.len()) / 2).then_some(closest.1)
}

/// Returns the Levenshtein distance.
fn edit_distance(one: &str, other: &str) -> usize {
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

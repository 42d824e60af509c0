//! How many planted defects the built-in reviewer finds, on real sources.
//!
//! `cargo bench -p referee-review --bench recall [-- --verbose | --diffs]`; the registries are needed the first time.
//! What is planted is listed in `rules/mutations.md`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "recall/corpus.rs"]
mod corpus;
#[path = "recall/judge.rs"]
mod judge;
#[path = "recall/made_up.rs"]
mod made_up;
#[path = "recall/plant.rs"]
mod plant;
#[path = "../../testkit/benches/support/random.rs"]
#[expect(dead_code, reason = "shared with benches that use all of it")]
mod random;
#[path = "../../testkit/benches/support/repo.rs"]
mod repo;
#[path = "recall/spellings.rs"]
mod spellings;
#[path = "recall/syntax.rs"]
mod syntax;

use std::process::ExitCode;

use judge::Verdicts;
use plant::Plant;

/// `REFEREE_SEED` takes another one.
const SEED: u64 = 20_261_115;

/// What is expected of the rules, in percent.
const WANTED: usize = 70;

fn main() -> ExitCode {
    let asked = |option: &str| std::env::args().any(|argument| argument == option);
    let seed = std::env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let packages = corpus::load();
    let plants = plant::plants(&spellings::classes(), &packages, seed);
    if asked("--diffs") {
        plants.iter().for_each(print_plant);
        return ExitCode::SUCCESS;
    }
    let verdicts = judge::judge(&plants);
    println!("{} plants in files of {} packages, seed {seed}\n", plants.len(), packages.len());
    print_table("class", &plants, &verdicts, |plant| &plant.class);
    print_table("language", &plants, &verdicts, |plant| &plant.language);
    print_table("", &plants, &verdicts, |_| "all");
    let noise = verdicts.noise.len();
    println!("{noise} findings point at no plant, in {} added lines", verdicts.added);
    if asked("--verbose") {
        print_details(&plants, &verdicts);
    }
    let found = verdicts.found.iter().flatten().count();
    if found * 100 < WANTED * plants.len() {
        println!("less than {WANTED} % are found");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn print_table<'a>(by: &str, plants: &'a [Plant], verdicts: &Verdicts, name: impl Fn(&'a Plant) -> &'a str) {
    println!("| {by} | planted | found | % |\n|---|---:|---:|---:|");
    let mut names: Vec<&str> = Vec::new();
    for plant in plants {
        if !names.contains(&name(plant)) {
            names.push(name(plant));
        }
    }
    for row in names {
        let of_row = || plants.iter().zip(&verdicts.found).filter(|(plant, _)| name(plant) == row);
        let (planted, found) = (of_row().count(), of_row().filter(|(_, rule)| rule.is_some()).count());
        println!("| {row} | {planted} | {found} | {} |", found * 100 / planted);
    }
    println!();
}

fn print_details(plants: &[Plant], verdicts: &Verdicts) {
    println!("\nMissed:\n");
    for (plant, _) in plants.iter().zip(&verdicts.found).filter(|(_, rule)| rule.is_none()) {
        print_plant(plant);
    }
    println!("Found:\n");
    for (plant, rule) in plants.iter().zip(&verdicts.found) {
        if let Some(rule) = rule {
            println!("{} {} by {rule}", plant.class, plant.spelling);
        }
    }
    println!("\nAt no plant:\n");
    for finding in &verdicts.noise {
        println!("{}:{} {}", finding.path, finding.line.unwrap_or(1), finding.rule.as_deref().unwrap_or_default());
    }
}

fn print_plant(plant: &Plant) {
    let Plant { class, spelling, path, lines, .. } = plant;
    println!("{class} {spelling} in {path}:{}\n{}", lines.start(), plant.excerpt());
}

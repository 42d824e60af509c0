//! How well findings keep their identity, on real sources, beside two keys in use.
//!
//! `cargo bench -p referee-testkit --bench identity [-- FINDINGS]`; the registries are needed the first time.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "identity/cases.rs"]
mod cases;
#[path = "identity/concerns.rs"]
mod concerns;
#[path = "identity/corpus.rs"]
mod corpus;
#[path = "identity/judge.rs"]
mod judge;
#[path = "support/random.rs"]
mod random;
#[path = "identity/reformat.rs"]
mod reformat;
#[path = "support/repo.rs"]
mod repo;
#[path = "identity/sheet.rs"]
mod sheet;
#[path = "identity/versions.rs"]
mod versions;

use cases::{Case, KINDS, Source};
use concerns::{CONCERNS, shared_words};
use corpus::Corpus;
use judge::{Tally, Verdicts, judge};
use random::Random;
use referee_git::Git;
use repo::Repo;

/// `REFEREE_SEED` takes another one.
const SEED: u64 = 20_261_115;

fn main() {
    // Cargo hands `--bench` to a bench without a harness.
    let findings_per_kind = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000);
    let most = CONCERNS.iter().map(|concern| shared_words(concern.title, concern.reworded)).max().unwrap_or(0);
    assert!(most < 50, "a reworded title shares {most} % of its words");
    let seed = std::env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let corpus = Corpus::load();
    let sources = sources(&corpus);
    println!(
        "{} packages, {} source files, seed {seed}, {findings_per_kind} findings a kind, reworded titles share at most {most} % of words\n",
        corpus.packages.len(),
        sources.len()
    );
    made_up(&sources, findings_per_kind, seed);
    published(&corpus, seed);
}

fn made_up(sources: &[Source], findings_per_kind: usize, seed: u64) {
    heading("kind");
    let mut all = Verdicts::default();
    for (number, (kind, name)) in KINDS.iter().enumerate() {
        if std::env::var("REFEREE_BENCH_KIND").is_ok_and(|wanted| wanted != *name) {
            continue;
        }
        let mut random = Random::new(seed + number as u64);
        let mut cases: Vec<Case> = Vec::new();
        let mut findings = 0;
        while findings < findings_per_kind {
            let case = cases::case(*kind, sources, &mut random);
            findings += case.raised.iter().filter(|(_, truth, concerned)| truth.is_some() && *concerned).count();
            cases.push(case);
        }
        let verdicts = run(name, &cases);
        print_row(name, &verdicts);
        all.add(&verdicts);
    }
    print_row("**all**", &all);
}

fn published(corpus: &Corpus, seed: u64) {
    println!("\nSuccessive published versions of {} packages:\n", corpus.versions.len());
    heading("package");
    let mut all = Verdicts::default();
    for (number, (older, newer)) in corpus.versions.iter().enumerate() {
        let mut random = Random::new(seed + 100 + number as u64);
        let cases = [versions::case(older, newer, &mut random)];
        let verdicts = run("versions", &cases);
        print_row(&older.name, &verdicts);
        all.add(&verdicts);
    }
    print_row("**all**", &all);
}

fn run(name: &str, cases: &[Case]) -> Verdicts {
    let repo = Repo::new(&format!("identity-{}", name.replace(' ', "-")));
    let commits = repo.commits(cases.iter().flat_map(|case| [&case.old, &case.new]));
    let git = Git::from_dir(&repo.dir);
    let mut verdicts = Verdicts::default();
    for (case, heads) in cases.iter().zip(commits.chunks(2)) {
        verdicts.add(&judge(case, &git, &heads[0], &heads[1]));
    }
    verdicts
}

/// Files of a length that people review.
fn sources(corpus: &Corpus) -> Vec<Source> {
    let of_a_length = |text: &str| (60..=900).contains(&text.lines().count());
    let files = corpus.packages.iter().flat_map(|package| {
        package.files.iter().map(|(path, text)| Source { path: format!("{}/{path}", package.name), text: text.clone() })
    });
    files.filter(|source| of_a_length(&source.text)).collect()
}

fn heading(first: &str) {
    println!(
        "| {first} | raised again | kept | wrongly merged | reviewdog's key: kept | merged | PR-Agent's key: kept | merged |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
}

fn print_row(name: &str, Verdicts(tallies): &Verdicts) {
    let figures = |tally: &Tally| format!("{:.2} % | {:.2} %", tally.kept_percent(), tally.merged_percent());
    let [tracker, reviewdog, pr_agent] = tallies;
    println!("| {name} | {} | {} | {} | {} |", tracker.again, figures(tracker), figures(reviewdog), figures(pr_agent));
}

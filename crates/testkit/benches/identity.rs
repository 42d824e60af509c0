//! How well findings keep their identity on real sources, compared with the keys of two other tools.
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
#[path = "identity/origin_text.rs"]
mod origin_text;
#[path = "support/random.rs"]
mod random;
#[path = "identity/reformat.rs"]
mod reformat;
#[path = "support/repo.rs"]
mod repo;
#[path = "identity/versions.rs"]
mod versions;

use cases::{CASE_KINDS, SourceFile, TrackingCase};
use concerns::{CONCERNS, shared_words};
use corpus::Corpus;
use judge::{MatcherTallies, Tally, compare_matchers};
use random::Random;
use referee_git::Git;
use repo::Repo;

/// The default seed; `REFEREE_SEED` overrides it.
const SEED: u64 = 20_261_115;

fn main() {
    // Cargo passes `--bench` to a bench without a harness.
    let findings_per_kind = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000);
    let max_shared = CONCERNS.iter().map(|concern| shared_words(concern.title, concern.reworded)).max().unwrap_or(0);
    assert!(max_shared < 50, "a reworded title shares {max_shared} % of its words");
    let seed = std::env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let corpus = Corpus::load();
    let sources = sources(&corpus);
    println!(
        "{} packages, {} source files, seed {seed}, {findings_per_kind} findings a kind, reworded titles share at most {max_shared} % of words\n",
        corpus.packages.len(),
        sources.len()
    );
    run_generated(&sources, findings_per_kind, seed);
    run_published(&corpus, seed);
}

fn run_generated(sources: &[SourceFile], findings_per_kind: usize, seed: u64) {
    print_heading("kind");
    let mut all = MatcherTallies::default();
    for (number, (kind, name)) in CASE_KINDS.iter().enumerate() {
        if std::env::var("REFEREE_BENCH_KIND").is_ok_and(|wanted| wanted != *name) {
            continue;
        }
        let mut random = Random::new(seed + number as u64);
        let mut cases: Vec<TrackingCase> = Vec::new();
        let mut findings = 0;
        while findings < findings_per_kind {
            let case = cases::case(*kind, sources, &mut random);
            findings += case.raised.iter().filter(|(_, truth, is_target)| truth.is_some() && *is_target).count();
            cases.push(case);
        }
        let tallies = run(name, &cases);
        print_row(name, &tallies);
        all.add(&tallies);
    }
    print_row("**all**", &all);
}

fn run_published(corpus: &Corpus, seed: u64) {
    println!("\nSuccessive published versions of {} packages:\n", corpus.versions.len());
    print_heading("package");
    let mut all = MatcherTallies::default();
    for (number, (older, newer)) in corpus.versions.iter().enumerate() {
        let mut random = Random::new(seed + 100 + number as u64);
        let cases = [versions::case(older, newer, &mut random)];
        let tallies = run("versions", &cases);
        print_row(&older.name, &tallies);
        all.add(&tallies);
    }
    print_row("**all**", &all);
}

fn run(name: &str, cases: &[TrackingCase]) -> MatcherTallies {
    let repo = Repo::new(&format!("identity-{}", name.replace(' ', "-")));
    let commits = repo.commits(cases.iter().flat_map(|case| [&case.old, &case.new]));
    let git = Git::from_dir(&repo.dir);
    let mut tallies = MatcherTallies::default();
    for (case, heads) in cases.iter().zip(commits.chunks(2)) {
        tallies.add(&compare_matchers(case, &git, &heads[0], &heads[1]));
    }
    tallies
}

/// Returns the files of a length that people review.
fn sources(corpus: &Corpus) -> Vec<SourceFile> {
    let has_reviewable_length = |text: &str| (60..=900).contains(&text.lines().count());
    let files = corpus.packages.iter().flat_map(|package| {
        package
            .files
            .iter()
            .map(|(path, text)| SourceFile { path: format!("{}/{path}", package.name), text: text.clone() })
    });
    files.filter(|source| has_reviewable_length(&source.text)).collect()
}

fn print_heading(first: &str) {
    println!(
        "| {first} | raised again | kept | wrongly merged | reviewdog's key: kept | merged | PR-Agent's key: kept | merged |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
}

fn print_row(name: &str, MatcherTallies(tallies): &MatcherTallies) {
    let figures = |tally: &Tally| format!("{:.2} % | {:.2} %", tally.kept_percent(), tally.merged_percent());
    let [tracker, reviewdog, pr_agent] = tallies;
    println!("| {name} | {} | {} | {} | {} |", tracker.again, figures(tracker), figures(reviewdog), figures(pr_agent));
}

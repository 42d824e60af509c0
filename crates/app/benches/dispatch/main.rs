//! `referee dispatch` beside the pass that a shell script makes by the same rules, on the same pulls: time, and requests
//! as a proxy counts them.
//!
//! ```text
//! cargo bench -p referee --features servers --bench dispatch
//! REFEREE_PULLS=100 cargo bench -p referee --features servers --bench dispatch
//! ```

#[path = "../../tests/forge/many.rs"]
#[expect(dead_code, reason = "the sweep has a bench of its own")]
mod many;
mod on_dialect;
mod on_gitea;
#[path = "../../tests/forge/site.rs"]
#[expect(dead_code, reason = "the suites run more commands")]
mod site;
mod stage;

use std::fmt::Write as _;

use on_dialect::OnDialect;
use on_gitea::OnGitea;
use stage::{PassRun, Stage};

/// Open pulls on the dialect server, unless `REFEREE_PULLS` says otherwise; a tenth of them on a real one.
const PULLS: usize = 1000;

fn main() {
    let count = std::env::var("REFEREE_PULLS").ok().and_then(|count| count.parse().ok()).unwrap_or(PULLS);
    say(&table(&OnDialect::new(count), "the dialect server"));
    say(&table(&OnGitea::new((count / 10).max(20)), "Gitea 1.27.3"));
}

fn table(stage: &impl Stage, server: &str) -> String {
    let shell = stage.shell();
    stage.forget();
    let cold = stage.referee();
    let unchanged = stage.referee();
    for ran in [&cold, &unchanged] {
        assert_eq!(ran.lines, shell.lines, "the same lines on the same pulls");
    }
    stage.happens();
    let (shell_again, warm) = (stage.shell(), stage.referee());
    assert_eq!(warm.lines, shell_again.lines, "the same lines on the same pulls");
    assert_ne!(warm.lines, unchanged.lines, "what happened shows");
    let mut table = format!(
        "{} open pulls on {server}, {} lines.\n\n\
         | | script: requests | time | referee: requests | git's | time | requests | faster |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        stage.count(),
        cold.lines.len(),
    );
    for (what, shell, own) in
        [("cold", &shell, &cold), ("unchanged", &shell, &unchanged), ("changes on ten pulls", &shell_again, &warm)]
    {
        let _ = writeln!(table, "| {what} | {} |", cells(shell, own));
    }
    table
}

fn cells(shell: &PassRun, own: &PassRun) -> String {
    let (asked, took) = (shell.asked as f64 / own.asked as f64, shell.took.as_secs_f64() / own.took.as_secs_f64());
    format!(
        "{} | {:.1} s | {} | {} | {:.2} s | {asked:.2} × fewer | {took:.1} ×",
        shell.asked,
        shell.took.as_secs_f64(),
        own.asked,
        own.git,
        own.took.as_secs_f64(),
    )
}

#[expect(clippy::print_stdout, reason = "a bench prints its tables")]
fn say(text: &str) {
    println!("{text}");
}

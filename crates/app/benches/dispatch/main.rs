//! Compares `referee dispatch` with a shell script that applies the same rules to the same pulls: time, and requests
//! counted by a proxy.
//!
//! ```text
//! cargo bench -p referee --features servers --bench dispatch
//! REFEREE_PULLS=100 cargo bench -p referee --features servers --bench dispatch
//! ```

#[path = "../../tests/forge/many.rs"]
#[expect(dead_code, reason = "the sweep has its own bench")]
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
    print(&measure(&OnDialect::new(count), "the dialect server"));
    print(&measure(&OnGitea::new((count / 10).max(20)), "Gitea 1.27.3"));
}

fn measure(stage: &impl Stage, server: &str) -> String {
    let script = stage.run_script();
    stage.forget();
    let cold = stage.run_referee();
    let unchanged = stage.run_referee();
    for ran in [&cold, &unchanged] {
        assert_eq!(ran.lines, script.lines, "the same lines on the same pulls");
    }
    stage.change_ten_pulls();
    let (script_again, warm) = (stage.run_script(), stage.run_referee());
    assert_eq!(warm.lines, script_again.lines, "the same lines on the same pulls");
    assert_ne!(warm.lines, unchanged.lines, "the changes are noticed");
    let mut table = format!(
        "{} open pulls on {server}, {} lines.\n\n\
         | | script: requests | time | referee: requests | git's | time | requests | faster |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        stage.count(),
        cold.lines.len(),
    );
    for (what, script, referee) in
        [("cold", &script, &cold), ("unchanged", &script, &unchanged), ("changes on ten pulls", &script_again, &warm)]
    {
        let _ = writeln!(table, "| {what} | {} |", render_cells(script, referee));
    }
    table
}

fn render_cells(script: &PassRun, referee: &PassRun) -> String {
    let (requests, duration) = (
        script.requests as f64 / referee.requests as f64,
        script.duration.as_secs_f64() / referee.duration.as_secs_f64(),
    );
    format!(
        "{} | {:.1} s | {} | {} | {:.2} s | {requests:.2} × fewer | {duration:.1} ×",
        script.requests,
        script.duration.as_secs_f64(),
        referee.requests,
        referee.git_requests,
        referee.duration.as_secs_f64(),
    )
}

#[expect(clippy::print_stdout, reason = "a bench prints its tables")]
fn print(text: &str) {
    println!("{text}");
}

//! The cage around any program, for whoever wants to try it: what workers, `doctor` and the tests run in is this.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::{Beat, Cage, Ended, Limits, demanded};
use crate::failure::Failure;

/// Run a program in the cage.
#[derive(Debug, Args)]
pub(super) struct ByHand {
    #[arg(long, default_value_t = 2)]
    tier: u8,
    #[arg(long, value_name = "HOST:PORT")]
    egress: Vec<String>,
    /// A variable of this environment that it gets
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// In milliseconds
    #[arg(long, default_value_t = 60_000)]
    deadline: u64,
    #[arg(long, default_value_t)]
    limits: Limits,
    /// Its folder: `work`, `job`, `home` and `log` are made in there
    #[arg(long)]
    folder: PathBuf,
    #[arg(long, default_value = "")]
    prompt: String,
    #[arg(last = true, required = true)]
    argv: Vec<String>,
}

impl ByHand {
    /// Runs it, and says how it ended.
    pub(super) fn run(&self) -> Result<serde_json::Value, Failure> {
        let (tier, egress) = demanded(self.tier, &self.egress)?;
        let folder = std::path::absolute(&self.folder);
        let folder = folder.map_err(|error| Failure::usage(format!("nothing runs: `--folder`: {error}")))?;
        let [work, job, home] = ["work", "job", "home"].map(|name| folder.join(name));
        for path in [&work, &job, &home] {
            std::fs::create_dir_all(path)
                .map_err(|error| Failure::usage(format!("nothing runs: `{}`: {error}", path.display())))?;
        }
        let value = |name: &String| crate::setup::env(name).map(|value| (name.clone(), value));
        let cage = Cage {
            tier,
            work,
            job,
            home,
            egress,
            env: self.env.iter().filter_map(value).collect(),
            deadline: Duration::from_millis(self.deadline),
            log: folder.join("log"),
            limits: self.limits,
        };
        let mut last = None;
        let ended = match cage.run(&self.argv, &self.prompt, &mut |beat| last = Some(beat))? {
            Ended::Exited(code) => json!(code),
            Ended::Signalled => json!("signalled"),
            Ended::TimedOut => json!("timed out"),
        };
        let Beat { elapsed, printed, cut } = last.unwrap_or(Beat { elapsed: Duration::ZERO, printed: 0, cut: false });
        let elapsed = elapsed.as_secs_f64();
        Ok(json!({ "ended": ended, "elapsed": elapsed, "printed": printed, "cut": cut }))
    }
}

//! Progress of slow work: one line a role, redrawn on a terminal; elsewhere a line each 30 seconds.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use referee_core::model::{Ended, RoleName, Submission};

use crate::out::{Out, Words};

/// How often a line is said off a terminal.
const BEAT: Duration = Duration::from_secs(30);

/// Where progress is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    out: Out,
}

/// One role under way.
#[derive(Debug)]
pub(crate) struct Work {
    out: Out,
    role: String,
    begun: Instant,
    bar: Option<ProgressBar>,
    beat: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Shown where words go.
    pub(crate) fn new(out: &Out) -> Self {
        Self { out: *out }
    }

    /// A role begins.
    pub(crate) fn begin(&self, role: &RoleName) -> Work {
        let bar = self.out.redraws().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("  {msg:<12} reading {elapsed:>6} {spinner}") {
                bar.set_style(style);
            }
            bar.set_message(role.to_string());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let beat = (bar.is_none() && self.out.words >= Words::Some).then(|| heartbeat(self.out, role.to_string()));
        Work { out: self.out, role: role.to_string(), begun: Instant::now(), bar, beat }
    }
}

impl Work {
    /// The role ended.
    pub(crate) fn end(self, report: &Submission) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Some((stop, beat)) = self.beat {
            drop(stop);
            let _ = beat.join();
        }
        let how = match report.outcome {
            Ended::Failed => format!("failed: {}", report.reason.lines().next().unwrap_or_default()),
            Ended::Clean | Ended::Findings if report.findings.len() == 1 => "done, 1 finding".to_owned(),
            Ended::Clean | Ended::Findings => format!("done, {} findings", report.findings.len()),
        };
        let seconds = self.begun.elapsed().as_secs();
        let took = if seconds == 0 { String::new() } else { format!(", {seconds} s") };
        self.out.say(&format!("  {:<12} {how}{took}", self.role));
    }
}

/// A line each 30 seconds, until the sender is dropped.
fn heartbeat(out: Out, role: String) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel();
    let beat = std::thread::spawn(move || {
        let begun = Instant::now();
        while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            out.say(&format!("  {role:<12} reading, {} s", begun.elapsed().as_secs()));
        }
    });
    (stop, beat)
}

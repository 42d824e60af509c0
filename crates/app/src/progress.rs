//! Progress of running reviewers: a spinner per role on a terminal, otherwise a line every 30 seconds.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use referee_core::model::{RoleName, Submission, SubmittedOutcome};

use crate::console::{Console, Verbosity};

/// Interval of progress lines where stderr is not a terminal.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

/// Shows the progress of roles on stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    out: Console,
}

/// The progress of one running role.
#[derive(Debug)]
pub(crate) struct RoleProgress {
    out: Console,
    role: String,
    started_at: Instant,
    spinner: Option<ProgressBar>,
    /// Dropping the sender stops the thread.
    heartbeat: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn new(out: &Console) -> Self {
        Self { out: *out }
    }

    pub(crate) fn begin_role(&self, role: &RoleName) -> RoleProgress {
        let spinner = self.out.can_redraw().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("  {msg:<12} reading {elapsed:>6} {spinner}") {
                bar.set_style(style);
            }
            bar.set_message(role.to_string());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let heartbeat = (spinner.is_none() && self.out.verbosity >= Verbosity::Normal)
            .then(|| spawn_heartbeat(self.out, role.to_string()));
        RoleProgress { out: self.out, role: role.to_string(), started_at: Instant::now(), spinner, heartbeat }
    }
}

impl RoleProgress {
    /// Ends the progress display and prints the outcome of the role.
    pub(crate) fn finish(self, report: &Submission) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        if let Some((stop, thread)) = self.heartbeat {
            drop(stop);
            let _ = thread.join();
        }
        let outcome = match report.outcome {
            SubmittedOutcome::Failed => format!("failed: {}", report.reason.lines().next().unwrap_or_default()),
            SubmittedOutcome::Clean | SubmittedOutcome::Findings if report.findings.len() == 1 => {
                "done, 1 finding".to_owned()
            }
            SubmittedOutcome::Clean | SubmittedOutcome::Findings => format!("done, {} findings", report.findings.len()),
        };
        let seconds = self.started_at.elapsed().as_secs();
        let duration = if seconds == 0 { String::new() } else { format!(", {seconds} s") };
        self.out.print_line(&format!("  {:<12} {outcome}{duration}", self.role));
    }
}

/// Prints a line every 30 seconds until the sender is dropped.
fn spawn_heartbeat(out: Console, role: String) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = channel();
    let thread = std::thread::spawn(move || {
        let started_at = Instant::now();
        while stopped.recv_timeout(HEARTBEAT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            out.print_line(&format!("  {role:<12} reading, {} s", started_at.elapsed().as_secs()));
        }
    });
    (stop, thread)
}

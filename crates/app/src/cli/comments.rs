//! `referee comments`: lists the threads of a pull request and the findings without one, and stores a triage. It only
//! reads from the forge (TRI-9).

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::settle::ThreadOutcome;
use referee_core::model::{Completeness, Triage};
use referee_core::plan::Reason;
use referee_core::triage::{
    OutdatedThreads, Phase, PhaseNow, Question, ResolvedThreads, ThreadFilter, ThreadScan, ThreadView, TriagePayload,
    UnthreadedFinding, build_triage, list_unthreaded, render_summary, render_unthreaded, scan_threads, validate_triage,
};
use referee_turn::{BegunTurn, Inbox};
use schemars::JsonSchema;
use serde::Serialize;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure, FailureKind};
use crate::payload;
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// List review threads and findings without a thread, and store a triage
#[derive(Debug, Args)]
pub(super) struct CommentsArgs {
    #[command(flatten)]
    which: super::PullArgs,
    /// List resolved threads too
    #[arg(long)]
    all: bool,
    /// List unresolved threads only, which is the default
    #[arg(long, conflicts_with = "all")]
    unresolved: bool,
    /// List outdated threads too
    #[arg(long)]
    include_outdated: bool,
    /// List only threads opened by this author; may be given more than once
    #[arg(long = "author", value_name = "NAME")]
    authors: Vec<String>,
    /// List only threads on this file, directory or glob; may be given more than once
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Read at most N threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_threads: Option<u32>,
    /// Store the triage in this file (`referee schema triage`), or `-` for standard input
    #[arg(long, value_name = "FILE")]
    triage_payload: Option<PathBuf>,
    /// Store nothing
    #[arg(long)]
    dry_run: bool,
}

/// The document of `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommentsDocument {
    schema: &'static str,
    pr_number: u64,
    /// Whether everything was read. If not, a missing thread proves nothing.
    complete: bool,
    /// Whether a filter or a default left out unresolved threads.
    filtered: bool,
    phase: Phase,
    /// The facts behind `phase`.
    why: Reason,
    /// Questions that a person must decide.
    questions: Vec<Question>,
    /// The threads that match the filter.
    threads: Vec<ThreadView>,
    /// Open findings without a thread, which no answer can name: fix them, or dismiss them by id.
    findings_without_thread: Vec<UnthreadedFinding>,
    /// The stored triage.
    triage: Option<Triage>,
    /// Outcomes of earlier answers, oldest first (FIX-9).
    outcomes: Vec<ThreadOutcome>,
}

impl CommentsDocument {
    fn new(
        scan: ThreadScan,
        findings_without_thread: Vec<UnthreadedFinding>,
        triage: Option<Triage>,
        outcomes: Vec<ThreadOutcome>,
    ) -> Self {
        let ThreadScan { pr_number, complete, filtered, phase: PhaseNow { phase, why, questions }, threads } = scan;
        let schema = "referee/comments-1";
        Self {
            schema,
            pr_number,
            complete,
            filtered,
            phase,
            why,
            questions,
            threads,
            findings_without_thread,
            triage,
            outcomes,
        }
    }
}

impl CommentsArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let access = if self.dry_run { SessionAccess::Read } else { SessionAccess::Remember };
        let session = PullSession::open(options, self.which.text(), access, out).await?;
        if !session.exists()? {
            return Err(Failure::new(FailureKind::NothingToReview, "this branch has no pull request yet")
                .with_hint("open one with `referee review`"));
        }
        let (store, key) = (&session.store, &session.key);
        let mut inbox = Inbox { evidence: session.load_evidence()?, ..Inbox::default() };
        let BegunTurn { mut snapshot, plan, .. } = session.begin(&inbox).await?;
        let max_threads = self.max_threads.map_or(session.config.max_threads, |max| max as usize);
        if snapshot.threads.len() > max_threads {
            snapshot.threads.truncate(max_threads);
            snapshot.complete = Completeness::truncated(format!("threads, after {max_threads}"));
        }
        let filter = self.build_filter();
        let mut scan = scan_threads(&snapshot, &session.config.policy, &filter, &session.thread_source());
        let mut triage = inbox.evidence.triage.take();
        if let Some(path) = &self.triage_payload {
            let submitted: TriagePayload = payload::parse_payload(path, "triage")?;
            let problems = validate_triage(&submitted, session.pull, &scan.selected_thread_ids());
            if !problems.is_empty() {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                return Err(payload::reject_payload(path, "triage", &problems));
            }
            triage = Some(build_triage(submitted, &scan, triage.as_ref()));
            snapshot.evidence.triage.clone_from(&triage);
            scan = scan_threads(&snapshot, &session.config.policy, &filter, &session.thread_source());
        }
        scan.phase = scan.phase.with_unthreaded(&plan.findings);
        let unthreaded = list_unthreaded(&plan.findings, &filter);
        if !self.dry_run {
            if let (Some(triage), Some(_)) = (&triage, &self.triage_payload) {
                store.save_memory(key, MemoryKind::Triage, triage)?;
            }
            store.save_memory(key, MemoryKind::ScannedThreads, &scan.to_seen_threads())?;
            store.save_memory(key, MemoryKind::Phase, &scan.phase)?;
            session.mark_used()?;
        }
        let outcome = if scan.phase.phase == Phase::Blocked { CliOutcome::HumanNeeded } else { CliOutcome::Done };
        if out.json {
            let outcomes = store.load_memory(key, MemoryKind::AnswerOutcomes)?.unwrap_or_default();
            out.print_json(&CommentsDocument::new(scan, unthreaded, triage, outcomes));
        } else {
            out.print_data(&format!("{}{}", render_summary(&scan), render_unthreaded(&unthreaded)));
            if let Some(first) = unthreaded.first() {
                out.print_line(&describe_dismissal(&session, &first.id));
            }
            out.print_line(&format!("next: {}", describe_next(&session.reference, &scan)));
        }
        Ok(outcome)
    }

    fn build_filter(&self) -> ThreadFilter {
        ThreadFilter {
            resolved: if self.all { ResolvedThreads::Include } else { ResolvedThreads::Exclude },
            outdated: if self.include_outdated { OutdatedThreads::Include } else { OutdatedThreads::Exclude },
            authors: self.authors.clone(),
            paths: self.paths.clone(),
        }
    }
}

/// Says what can be done with a finding that has no thread.
pub(super) fn describe_dismissal(session: &PullSession, finding: &str) -> String {
    let command = format!("/referee dismiss {finding} <reason>");
    let how = match session.is_local() {
        true => format!("`referee local comment {} \"{command}\"`", session.reference),
        false => format!("the comment `{command}` on the pull"),
    };
    format!("hint: nobody can reply to a finding without a thread: fix it, or dismiss it by its id with {how}")
}

fn describe_next(name: &str, scan: &ThreadScan) -> String {
    match scan.phase.phase {
        Phase::ReviewTriage if scan.threads.is_empty() && !scan.filtered => {
            format!("fix the findings and commit, then `referee review {name}`")
        }
        Phase::Blocked => "a person must decide; then run `referee comments` again".to_owned(),
        Phase::FixingReviewFindings => {
            format!("fix what is valid, then `referee fix-comments {name} --payload FILE`")
        }
        Phase::ReviewTriage => format!("`referee comments {name} --triage-payload FILE` stores a triage"),
        Phase::Unverified => "run `referee check` to verify the head".to_owned(),
        Phase::Verified => "nothing: no thread is open and the checks of the head passed".to_owned(),
    }
}

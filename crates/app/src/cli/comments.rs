//! `referee comments`: the threads of a pull, and a triage of them. It holds a reader only (TRI-9).

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::settle::ThreadOutcome;
use referee_core::model::{Completeness, Triage};
use referee_core::plan::Reason;
use referee_core::triage::{
    OutdatedThreads, Phase, PhaseNow, Question, ResolvedThreads, ThreadFilter, ThreadScan, ThreadView, TriagePayload,
    build_triage, render_summary, scan_threads, validate_triage,
};
use referee_turn::Inbox;
use schemars::JsonSchema;
use serde::Serialize;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure, FailureKind};
use crate::payload;
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// List review threads, and take a triage of them
#[derive(Debug, Args)]
pub(super) struct CommentsArgs {
    #[command(flatten)]
    which: super::PullArgs,
    /// Resolved ones too
    #[arg(long)]
    all: bool,
    /// Unresolved ones only, which is the default
    #[arg(long, conflicts_with = "all")]
    unresolved: bool,
    /// Outdated ones too
    #[arg(long)]
    include_outdated: bool,
    /// Only threads opened by this author; may be given more than once
    #[arg(long = "author", value_name = "NAME")]
    authors: Vec<String>,
    /// Only threads on this file, folder or glob; may be given more than once
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Read at most so many threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_threads: Option<u32>,
    /// Take a triage of the listed threads
    #[arg(long, value_name = "FILE")]
    triage_payload: Option<PathBuf>,
    /// Remember nothing
    #[arg(long)]
    dry_run: bool,
}

/// `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommentsDocument {
    schema: &'static str,
    pr_number: u64,
    /// Everything was read. Where it was not, an empty list means nothing.
    complete: bool,
    /// Unresolved threads were left out by a filter or a default.
    filtered: bool,
    /// Where the pull is.
    phase: Phase,
    /// By which facts.
    why: Reason,
    /// Who must decide what.
    questions: Vec<Question>,
    /// The threads that were looked at.
    threads: Vec<ThreadView>,
    /// The triage that is remembered.
    triage: Option<Triage>,
    /// What became of earlier answers, oldest first (FIX-9).
    outcomes: Vec<ThreadOutcome>,
}

impl CommentsDocument {
    fn new(scan: ThreadScan, triage: Option<Triage>, outcomes: Vec<ThreadOutcome>) -> Self {
        let ThreadScan { pr_number, complete, filtered, phase: PhaseNow { phase, why, questions }, threads } = scan;
        let schema = "referee/comments-1";
        Self { schema, pr_number, complete, filtered, phase, why, questions, threads, triage, outcomes }
    }
}

impl CommentsArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let access = if self.dry_run { SessionAccess::Read } else { SessionAccess::Remember };
        let session = PullSession::open(options, self.which.text(), access, out).await?;
        if !session.exists()? {
            return Err(Failure::new(FailureKind::NothingToReview, "there is no pull for this branch yet")
                .with_hint("`referee review` opens one"));
        }
        let (store, key) = (&session.store, &session.key);
        let mut inbox = Inbox { evidence: session.load_evidence()?, ..Inbox::default() };
        let (mut snapshot, _) = session.begin(&inbox).await?;
        let most = self.max_threads.map_or(session.config.max_threads, |most| most as usize);
        if snapshot.threads.len() > most {
            snapshot.threads.truncate(most);
            snapshot.complete = Completeness::Truncated { what: format!("threads, after {most}") };
        }
        let filter = self.build_filter();
        let mut seen = scan_threads(&snapshot, &session.config.policy, &filter, &session.thread_source());
        let mut triage = inbox.evidence.triage.take();
        if let Some(path) = &self.triage_payload {
            let handed: TriagePayload = payload::parse_payload(path, "triage")?;
            let faults = validate_triage(&handed, session.pull, &seen.selected_thread_ids());
            if !faults.is_empty() {
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                return Err(payload::reject_payload(path, "triage", &faults));
            }
            triage = Some(build_triage(handed, &seen, triage.as_ref()));
            snapshot.evidence.triage.clone_from(&triage);
            seen = scan_threads(&snapshot, &session.config.policy, &filter, &session.thread_source());
        }
        if !self.dry_run {
            if let (Some(triage), Some(_)) = (&triage, &self.triage_payload) {
                store.save_memory(key, MemoryKind::Triage, triage)?;
            }
            store.save_memory(key, MemoryKind::ScannedThreads, &seen.to_seen_threads())?;
            store.save_memory(key, MemoryKind::Phase, &seen.phase)?;
            session.mark_used()?;
        }
        let ending = if seen.phase.phase == Phase::Blocked { CliOutcome::HumanNeeded } else { CliOutcome::Done };
        if out.json {
            let outcomes = store.load_memory(key, MemoryKind::AnswerOutcomes)?.unwrap_or_default();
            out.print_json(&CommentsDocument::new(seen, triage, outcomes));
        } else {
            out.print_data(&render_summary(&seen));
            out.print_info(&format!("next: {}", describe_next(&session.reference, &seen)));
        }
        Ok(ending)
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

fn describe_next(name: &str, scan: &ThreadScan) -> String {
    match scan.phase.phase {
        Phase::Blocked => "a person decides; then scan again".to_owned(),
        Phase::FixingReviewFindings => {
            format!("fix what is valid, then `referee fix-comments {name} --payload FILE`")
        }
        Phase::ReviewTriage => format!("`referee comments {name} --triage-payload FILE` takes a triage"),
        Phase::Unverified => "`referee check` proves the head".to_owned(),
        Phase::Verified => "nothing: no thread is open, and the head is checked".to_owned(),
    }
}

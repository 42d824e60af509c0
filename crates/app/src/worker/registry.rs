//! Who does a job: the project names an entry of the operator's `[workers]`, and that an agent.

use std::collections::BTreeMap;
use std::time::Duration;

use referee_core::model::Span;
use referee_core::plan::JobKind;
use referee_core::say::find_nearest_word;

use crate::config::{ResolvedConfig, WorkerEntry};
use crate::failure::Failure;

/// The operator's agents and workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerRegistry {
    agents: BTreeMap<String, Vec<String>>,
    workers: BTreeMap<String, WorkerEntry>,
}

/// A worker that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunnableWorker {
    /// The entry's name.
    pub(crate) name: String,
    /// What is run.
    pub(crate) argv: Vec<String>,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// The lowest tier it may run in.
    pub(crate) sandbox: u8,
    /// What it may reach.
    pub(crate) egress: Vec<String>,
    /// What it gets, with values.
    pub(crate) env: Vec<(String, String)>,
}

/// Longer ones outlive their lease, whatever the project allows for a label (DSP-14).
const MAX_TIMEOUT: Span = Span::from_hours(1);

impl WorkerRegistry {
    /// Those of a setup.
    pub(crate) fn from_setup(setup: &ResolvedConfig) -> Self {
        Self { agents: setup.agents.clone(), workers: setup.workers.clone() }
    }

    /// The workers of a project by what they do, each of them fit to run under a lease of that length.
    pub(crate) fn resolve_workers(
        &self,
        named: &BTreeMap<JobKind, String>,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<JobKind, RunnableWorker>, Failure> {
        named.iter().map(|(kind, name)| Ok((*kind, self.resolve_worker(*kind, name, lease, env)?))).collect()
    }

    fn resolve_worker(
        &self,
        kind: JobKind,
        name: &str,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<RunnableWorker, Failure> {
        let missing = |words: String, near: Option<&str>| {
            let hint = near.map_or("`--operator FILE` names another operator file".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
            Failure::usage(words).with_hint(hint)
        };
        let entry = self.workers.get(name).ok_or_else(|| {
            let words = format!("nobody can do `{kind}`: there is no `[workers.{name}]` in the operator file");
            missing(words, find_nearest_word(name, self.workers.keys().map(String::as_str)))
        })?;
        let agent = &entry.agent;
        let argv = self.agents.get(agent).filter(|argv| !argv.is_empty()).ok_or_else(|| {
            let words =
                format!("nobody can do `{kind}`: `[workers.{name}]` names no agent of the operator file: `{agent}`");
            missing(words, find_nearest_word(agent, self.agents.keys().map(String::as_str)))
        })?;
        let limit = lease.min(MAX_TIMEOUT);
        if entry.timeout >= limit || entry.timeout <= Span(0) {
            let (takes, holds) = (format_minutes(entry.timeout), format_minutes(limit));
            return Err(Failure::usage(format!(
                "`[workers.{name}]` may take {takes}, and what it holds is anybody's after {holds}"
            ))
            .with_hint("give it a shorter `timeout`; `50m` is the default"));
        }
        let given = entry.env.iter().map(|variable| {
            let value = env(variable).ok_or_else(|| {
                Failure::usage(format!("`[workers.{name}]` gets `{variable}`, which is not set"))
                    .with_hint("set it where referee runs, or take it off the entry's `env`")
            })?;
            Ok((variable.clone(), value))
        });
        Ok(RunnableWorker {
            name: name.to_owned(),
            argv: argv.clone(),
            timeout: Duration::from_secs(entry.timeout.0.unsigned_abs()),
            sandbox: entry.sandbox,
            egress: entry.egress.clone(),
            env: given.collect::<Result<_, Failure>>()?,
        })
    }
}

impl RunnableWorker {
    /// The tier for the change of somebody who may not write here, and might have written it for this worker to read:
    /// nothing below bubblewrap is a wall.
    pub(crate) fn sandbox_for_untrusted(&self) -> u8 {
        self.sandbox.max(2)
    }
}

fn format_minutes(span: Span) -> String {
    format!("{} min", span.0 / 60)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use referee_core::model::Span;
    use referee_core::plan::JobKind;

    use super::{RunnableWorker, WorkerRegistry};
    use crate::config::WorkerEntry;

    fn sample_registry() -> WorkerRegistry {
        let entry = |agent: &str, minutes| WorkerEntry {
            agent: agent.to_owned(),
            timeout: Span::from_minutes(minutes),
            sandbox: 1,
            egress: Vec::new(),
            env: vec!["KEY".to_owned()],
        };
        let agents = BTreeMap::from([("claude".to_owned(), vec!["claude".to_owned(), "-p".to_owned()])]);
        let workers = [("fixer", entry("claude", 50)), ("lost", entry("claud", 50)), ("slow", entry("claude", 60))];
        WorkerRegistry { agents, workers: workers.into_iter().map(|(name, it)| (name.to_owned(), it)).collect() }
    }

    fn resolve(name: &str, lease: Span) -> Result<RunnableWorker, String> {
        let named = BTreeMap::from([(JobKind::CiFix, name.to_owned())]);
        let key = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
        let hired = sample_registry().resolve_workers(&named, lease, &key).map_err(|failure| failure.render())?;
        Ok(hired[&JobKind::CiFix].clone())
    }

    #[test]
    fn a_worker_is_an_entry_with_its_agent() {
        let hired = resolve("fixer", Span::from_hours(1)).expect("a worker");
        assert_eq!((hired.argv.len(), hired.timeout.as_secs(), hired.sandbox), (2, 3000, 1));
        assert_eq!(hired.env, [("KEY".to_owned(), "sesame".to_owned())]);
        assert_eq!(hired.sandbox_for_untrusted(), 2);
    }

    // spec: DSP-14 @core
    #[test]
    fn a_worker_that_cannot_be_run_is_told_before_anything_is_claimed() {
        for (name, lease, part) in [
            ("fixr", Span::from_hours(1), "did you mean `fixer`?"),
            ("lost", Span::from_hours(1), "did you mean `claude`?"),
            ("slow", Span::from_hours(1), "anybody's after 60 min"),
            ("slow", Span::from_hours(3), "anybody's after 60 min"),
            ("fixer", Span::from_minutes(50), "anybody's after 50 min"),
        ] {
            let refused = resolve(name, lease).expect_err(part);
            assert!(refused.contains(part), "{refused}");
        }
        let named = BTreeMap::from([(JobKind::CiFix, "fixer".to_owned())]);
        let refused =
            sample_registry().resolve_workers(&named, Span::from_hours(1), &|_| None).expect_err("no key").render();
        assert!(refused.contains("`KEY`, which is not set"), "{refused}");
    }
}

//! Resolves the workers of a project: a project names entries of the operator's `[workers]`, and those name an agent.

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

/// A worker with everything needed to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunnableWorker {
    /// Name of the entry in `[workers]`.
    pub(crate) name: String,
    pub(crate) argv: Vec<String>,
    pub(crate) timeout: Duration,
    /// The lowest sandbox tier it may run in.
    pub(crate) sandbox: u8,
    /// Hosts and ports it may connect to.
    pub(crate) egress: Vec<String>,
    /// Environment variables with their values.
    pub(crate) env: Vec<(String, String)>,
}

/// A lease never lasts longer, whatever the project allows for its label (DSP-14).
const MAX_TIMEOUT: Span = Span::from_hours(1);

impl WorkerRegistry {
    pub(crate) fn from_setup(setup: &ResolvedConfig) -> Self {
        Self { agents: setup.agents.clone(), workers: setup.workers.clone() }
    }

    /// Returns the workers of a project by kind of job. Each one's timeout is shorter than `lease`.
    pub(crate) fn resolve_workers(
        &self,
        names: &BTreeMap<JobKind, String>,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<JobKind, RunnableWorker>, Failure> {
        names.iter().map(|(kind, name)| Ok((*kind, self.resolve_worker(*kind, name, lease, env)?))).collect()
    }

    fn resolve_worker(
        &self,
        kind: JobKind,
        name: &str,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<RunnableWorker, Failure> {
        let missing = |message: String, nearest: Option<&str>| {
            let hint = nearest.map_or("`--operator FILE` selects another operator file".to_owned(), |nearest| {
                format!("did you mean `{nearest}`?")
            });
            Failure::usage(message).with_hint(hint)
        };
        let entry = self.workers.get(name).ok_or_else(|| {
            let message = format!("no worker for `{kind}`: there is no `[workers.{name}]` in the operator file");
            missing(message, find_nearest_word(name, self.workers.keys().map(String::as_str)))
        })?;
        let agent = &entry.agent;
        let argv = self.agents.get(agent).filter(|argv| !argv.is_empty()).ok_or_else(|| {
            let message = format!(
                "no worker for `{kind}`: `[workers.{name}]` names the agent `{agent}`, which the operator file does not have"
            );
            missing(message, find_nearest_word(agent, self.agents.keys().map(String::as_str)))
        })?;
        let limit = lease.min(MAX_TIMEOUT);
        if entry.timeout >= limit || entry.timeout <= Span(0) {
            let (timeout, limit) = (format_minutes(entry.timeout), format_minutes(limit));
            return Err(Failure::usage(format!(
                "`[workers.{name}]` has a timeout of {timeout}, but its lease can be taken over after {limit}"
            ))
            .with_hint("set a shorter `timeout`; `50m` is the default"));
        }
        let variables = entry.env.iter().map(|variable| {
            let value = env(variable).ok_or_else(|| {
                Failure::usage(format!("`[workers.{name}]` needs the variable `{variable}`, which is not set"))
                    .with_hint("set it for referee, or remove it from the entry's `env`")
            })?;
            Ok((variable.clone(), value))
        });
        Ok(RunnableWorker {
            name: name.to_owned(),
            argv: argv.clone(),
            timeout: Duration::from_secs(entry.timeout.0.unsigned_abs()),
            sandbox: entry.sandbox,
            egress: entry.egress.clone(),
            env: variables.collect::<Result<_, Failure>>()?,
        })
    }
}

impl RunnableWorker {
    /// Returns the minimum tier for a change by an author without write access, who may have written it to attack the
    /// worker. Tiers below bubblewrap do not isolate.
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
        let names = BTreeMap::from([(JobKind::CiFix, name.to_owned())]);
        let env = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
        let workers = sample_registry().resolve_workers(&names, lease, &env).map_err(|failure| failure.render())?;
        Ok(workers[&JobKind::CiFix].clone())
    }

    #[test]
    fn a_worker_is_resolved_with_its_agent_and_environment() {
        let worker = resolve("fixer", Span::from_hours(1)).expect("a worker");
        assert_eq!((worker.argv.len(), worker.timeout.as_secs(), worker.sandbox), (2, 3000, 1));
        assert_eq!(worker.env, [("KEY".to_owned(), "sesame".to_owned())]);
        assert_eq!(worker.sandbox_for_untrusted(), 2);
    }

    // spec: DSP-14 @core
    #[test]
    fn a_worker_that_cannot_run_is_refused_before_anything_is_claimed() {
        for (name, lease, part) in [
            ("fixr", Span::from_hours(1), "did you mean `fixer`?"),
            ("lost", Span::from_hours(1), "did you mean `claude`?"),
            ("slow", Span::from_hours(1), "can be taken over after 60 min"),
            ("slow", Span::from_hours(3), "can be taken over after 60 min"),
            ("fixer", Span::from_minutes(50), "can be taken over after 50 min"),
        ] {
            let refused = resolve(name, lease).expect_err(part);
            assert!(refused.contains(part), "{refused}");
        }
        let names = BTreeMap::from([(JobKind::CiFix, "fixer".to_owned())]);
        let refused =
            sample_registry().resolve_workers(&names, Span::from_hours(1), &|_| None).expect_err("no key").render();
        assert!(refused.contains("`KEY`, which is not set"), "{refused}");
    }
}

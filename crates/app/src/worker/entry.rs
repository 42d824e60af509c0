//! Who does a job: the project names an entry of the operator's `[workers]`, and that an agent.

use std::collections::BTreeMap;
use std::time::Duration;

use referee_core::model::Span;
use referee_core::plan::JobKind;
use referee_core::say::nearest;

use crate::config::{Setup, WorkerEntry};
use crate::failure::Failure;

/// The operator's agents and workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crew {
    agents: BTreeMap<String, Vec<String>>,
    workers: BTreeMap<String, WorkerEntry>,
}

/// A worker that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hired {
    /// The entry's name.
    pub(crate) name: String,
    /// What is run.
    pub(crate) argv: Vec<String>,
    /// How long it may take.
    pub(crate) time: Duration,
    /// The lowest tier it may run in.
    pub(crate) sandbox: u8,
    /// What it may reach.
    pub(crate) egress: Vec<String>,
    /// What it gets, with values.
    pub(crate) env: Vec<(String, String)>,
}

/// Longer ones outlive their lease, whatever the project allows for a label (DSP-14).
const LONGEST: Span = Span::hours(1);

impl Crew {
    /// Those of a setup.
    pub(crate) fn of(setup: &Setup) -> Self {
        Self { agents: setup.agents.clone(), workers: setup.workers.clone() }
    }

    /// The workers of a project by what they do, each of them fit to run under a lease of that length.
    pub(crate) fn hire(
        &self,
        named: &BTreeMap<JobKind, String>,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BTreeMap<JobKind, Hired>, Failure> {
        named.iter().map(|(kind, name)| Ok((*kind, self.one(*kind, name, lease, env)?))).collect()
    }

    fn one(
        &self,
        kind: JobKind,
        name: &str,
        lease: Span,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Hired, Failure> {
        let missing = |words: String, near: Option<&str>| {
            let hint = near.map_or("`--operator FILE` names another operator file".to_owned(), |near| {
                format!("did you mean `{near}`?")
            });
            Failure::usage(words).hint(hint)
        };
        let entry = self.workers.get(name).ok_or_else(|| {
            let words = format!("nobody can do `{kind}`: there is no `[workers.{name}]` in the operator file");
            missing(words, nearest(name, self.workers.keys().map(String::as_str)))
        })?;
        let agent = &entry.agent;
        let argv = self.agents.get(agent).filter(|argv| !argv.is_empty()).ok_or_else(|| {
            let words =
                format!("nobody can do `{kind}`: `[workers.{name}]` names no agent of the operator file: `{agent}`");
            missing(words, nearest(agent, self.agents.keys().map(String::as_str)))
        })?;
        let limit = lease.min(LONGEST);
        if entry.timeout >= limit || entry.timeout <= Span(0) {
            let (takes, holds) = (minutes(entry.timeout), minutes(limit));
            return Err(Failure::usage(format!(
                "`[workers.{name}]` may take {takes}, and what it holds is anybody's after {holds}"
            ))
            .hint("give it a shorter `timeout`; `50m` is the default"));
        }
        let given = entry.env.iter().map(|variable| {
            let value = env(variable).ok_or_else(|| {
                Failure::usage(format!("`[workers.{name}]` gets `{variable}`, which is not set"))
                    .hint("set it where referee runs, or take it off the entry's `env`")
            })?;
            Ok((variable.clone(), value))
        });
        Ok(Hired {
            name: name.to_owned(),
            argv: argv.clone(),
            time: Duration::from_secs(entry.timeout.0.unsigned_abs()),
            sandbox: entry.sandbox,
            egress: entry.egress.clone(),
            env: given.collect::<Result<_, Failure>>()?,
        })
    }
}

impl Hired {
    /// The tier for the change of somebody who may not write here, and might have written it for this worker to read:
    /// nothing below bubblewrap is a wall.
    pub(crate) fn sandbox_for_strangers(&self) -> u8 {
        self.sandbox.max(2)
    }
}

fn minutes(span: Span) -> String {
    format!("{} min", span.0 / 60)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use referee_core::model::Span;
    use referee_core::plan::JobKind;

    use super::{Crew, Hired};
    use crate::config::WorkerEntry;

    fn crew() -> Crew {
        let entry = |agent: &str, minutes| WorkerEntry {
            agent: agent.to_owned(),
            timeout: Span::minutes(minutes),
            sandbox: 1,
            egress: Vec::new(),
            env: vec!["KEY".to_owned()],
        };
        let agents = BTreeMap::from([("claude".to_owned(), vec!["claude".to_owned(), "-p".to_owned()])]);
        let workers = [("fixer", entry("claude", 50)), ("lost", entry("claud", 50)), ("slow", entry("claude", 60))];
        Crew { agents, workers: workers.into_iter().map(|(name, it)| (name.to_owned(), it)).collect() }
    }

    fn hire(name: &str, lease: Span) -> Result<Hired, String> {
        let named = BTreeMap::from([(JobKind::CiFix, name.to_owned())]);
        let key = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
        let hired = crew().hire(&named, lease, &key).map_err(|failure| failure.words())?;
        Ok(hired[&JobKind::CiFix].clone())
    }

    #[test]
    fn a_worker_is_an_entry_with_its_agent() {
        let hired = hire("fixer", Span::hours(1)).expect("a worker");
        assert_eq!((hired.argv.len(), hired.time.as_secs(), hired.sandbox), (2, 3000, 1));
        assert_eq!(hired.env, [("KEY".to_owned(), "sesame".to_owned())]);
        assert_eq!(hired.sandbox_for_strangers(), 2);
    }

    // spec: DSP-14 @core
    #[test]
    fn a_worker_that_cannot_be_run_is_told_before_anything_is_claimed() {
        for (name, lease, part) in [
            ("fixr", Span::hours(1), "did you mean `fixer`?"),
            ("lost", Span::hours(1), "did you mean `claude`?"),
            ("slow", Span::hours(1), "anybody's after 60 min"),
            ("slow", Span::hours(3), "anybody's after 60 min"),
            ("fixer", Span::minutes(50), "anybody's after 50 min"),
        ] {
            let refused = hire(name, lease).expect_err(part);
            assert!(refused.contains(part), "{refused}");
        }
        let named = BTreeMap::from([(JobKind::CiFix, "fixer".to_owned())]);
        let refused = crew().hire(&named, Span::hours(1), &|_| None).expect_err("no key").words();
        assert!(refused.contains("`KEY`, which is not set"), "{refused}");
    }
}

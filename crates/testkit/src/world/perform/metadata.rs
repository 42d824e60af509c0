//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use referee_core::plan::CommentTarget;
use referee_forge::{CreatedIds, ForgeError, PerformOutcome};

use super::ActionContext;
use crate::world::comments::target_issue;
use crate::world::effect::EffectKind;
use crate::world::state::WorldState;

impl WorldState {
    pub(super) fn set_label(
        &mut self,
        doing: &ActionContext<'_>,
        name: &str,
        on: bool,
    ) -> Result<PerformOutcome, ForgeError> {
        let label = self.readable_repo().pull(doing.pull)?.labels.iter().find(|label| label.name == name);
        if label.is_some() == on {
            return Ok(PerformOutcome::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(doing.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        let what = match label {
            Some(label) if label.by.as_ref() != Some(doing.by) => {
                return Err(ForgeError::Forbidden("take somebody else's label off".to_owned()));
            }
            Some(_) => EffectKind::Unlabelled { name: name.to_owned() },
            None => EffectKind::Labelled { name: name.to_owned() },
        };
        self.change(|repo| match on {
            true => repo.label(doing.pull, doing.by, name),
            false => repo.unlabel(doing.pull, doing.by, name),
        })?;
        self.record_effect(doing.by, doing.pull, what);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    pub(super) fn assign(
        &mut self,
        doing: &ActionContext<'_>,
        target: CommentTarget,
        who: Option<&Login>,
    ) -> Result<PerformOutcome, ForgeError> {
        let login = who.unwrap_or(doing.by).clone();
        let on = target_issue(target);
        let mut seen = self.readable_repo().clone();
        if seen.assignees_mut(doing.pull, target)?.contains(&login) == who.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(doing.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        self.change(|repo| {
            let assignees = repo.assignees_mut(doing.pull, target)?;
            assignees.retain(|assigned| *assigned != login);
            assignees.extend(who.cloned());
            Ok::<(), ForgeError>(())
        })?;
        let what = match who {
            Some(_) => EffectKind::Assigned { who: login, issue: on },
            None => EffectKind::Unassigned { who: login, issue: on },
        };
        self.record_effect(doing.by, doing.pull, what);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    pub(super) fn set_status(
        &mut self,
        doing: &ActionContext<'_>,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        if self.repo.quirks.no_statuses || !self.repo.may_write(doing.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        let seen = self.readable_repo();
        if !seen.commits.contains_key(commit) {
            return Err(ForgeError::Refused("there is no such commit".to_owned()));
        }
        let said = seen.statuses.iter().find(|row| row.commit == *commit && row.context == context);
        if said.is_some_and(|row| row.state == state && row.text == text) {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.set_status(commit, context, state, text));
        let (commit, context) = (commit.clone(), context.to_owned());
        self.record_effect(
            doing.by,
            doing.pull,
            EffectKind::StatusSet { commit, context, state, text: text.to_owned() },
        );
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }
}

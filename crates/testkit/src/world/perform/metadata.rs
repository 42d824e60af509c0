//! Labels, assignees and statuses.

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
        ctx: &ActionContext<'_>,
        name: &str,
        on: bool,
    ) -> Result<PerformOutcome, ForgeError> {
        let label = self.readable_repo().pull(ctx.pull)?.labels.iter().find(|label| label.name == name);
        if label.is_some() == on {
            return Ok(PerformOutcome::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(ctx.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        let effect = match label {
            Some(label) if label.by.as_ref() != Some(ctx.by) => {
                return Err(ForgeError::Forbidden("remove a label that another user added".to_owned()));
            }
            Some(_) => EffectKind::Unlabelled { name: name.to_owned() },
            None => EffectKind::Labelled { name: name.to_owned() },
        };
        self.change(|repo| match on {
            true => repo.label(ctx.pull, ctx.by, name),
            false => repo.unlabel(ctx.pull, ctx.by, name),
        })?;
        self.record_effect(ctx.by, ctx.pull, effect);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    pub(super) fn assign(
        &mut self,
        ctx: &ActionContext<'_>,
        target: CommentTarget,
        who: Option<&Login>,
    ) -> Result<PerformOutcome, ForgeError> {
        let login = who.unwrap_or(ctx.by).clone();
        let issue = target_issue(target);
        let mut repo = self.readable_repo().clone();
        if repo.assignees_mut(ctx.pull, target)?.contains(&login) == who.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(ctx.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        self.change(|repo| {
            let assignees = repo.assignees_mut(ctx.pull, target)?;
            assignees.retain(|assigned| *assigned != login);
            assignees.extend(who.cloned());
            Ok::<(), ForgeError>(())
        })?;
        let effect = match who {
            Some(_) => EffectKind::Assigned { who: login, issue },
            None => EffectKind::Unassigned { who: login, issue },
        };
        self.record_effect(ctx.by, ctx.pull, effect);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    pub(super) fn set_status(
        &mut self,
        ctx: &ActionContext<'_>,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        if self.repo.quirks.no_statuses || !self.repo.may_write(ctx.by) {
            return Ok(PerformOutcome::NotPermitted);
        }
        let repo = self.readable_repo();
        if !repo.commits.contains_key(commit) {
            return Err(ForgeError::Refused("the commit does not exist".to_owned()));
        }
        let current = repo.statuses.iter().find(|row| row.commit == *commit && row.context == context);
        if current.is_some_and(|row| row.state == state && row.text == text) {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.set_status(commit, context, state, text));
        let (commit, context) = (commit.clone(), context.to_owned());
        self.record_effect(ctx.by, ctx.pull, EffectKind::StatusSet { commit, context, state, text: text.to_owned() });
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }
}

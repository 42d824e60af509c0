//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use referee_core::plan::Target;
use referee_forge::{ForgeError, Made, Performed};

use super::Doing;
use crate::world::effect::What;
use crate::world::state::State;
use crate::world::talk::issue_of;

impl State {
    pub(super) fn set_label(&mut self, doing: &Doing<'_>, name: &str, on: bool) -> Result<Performed, ForgeError> {
        let label = self.seen().pull(doing.pull)?.labels.iter().find(|label| label.name == name);
        if label.is_some() == on {
            return Ok(Performed::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(doing.by) {
            return Ok(Performed::NotPermitted);
        }
        let what = match label {
            Some(label) if label.by.as_ref() != Some(doing.by) => {
                return Err(ForgeError::Forbidden("take somebody else's label off".to_owned()));
            }
            Some(_) => What::Unlabelled { name: name.to_owned() },
            None => What::Labelled { name: name.to_owned() },
        };
        self.change(|repo| match on {
            true => repo.label(doing.pull, doing.by, name),
            false => repo.unlabel(doing.pull, doing.by, name),
        })?;
        self.effect(doing.by, doing.pull, what);
        Ok(Performed::Done(Made::default()))
    }

    pub(super) fn assign(
        &mut self,
        doing: &Doing<'_>,
        target: Target,
        who: Option<&Login>,
    ) -> Result<Performed, ForgeError> {
        let login = who.unwrap_or(doing.by).clone();
        let on = issue_of(target);
        let mut seen = self.seen().clone();
        if seen.assignees(doing.pull, target)?.contains(&login) == who.is_some() {
            return Ok(Performed::AlreadySo);
        }
        if self.repo.quirks.no_labels || !self.repo.may_write(doing.by) {
            return Ok(Performed::NotPermitted);
        }
        self.change(|repo| {
            let assignees = repo.assignees(doing.pull, target)?;
            assignees.retain(|assigned| *assigned != login);
            assignees.extend(who.cloned());
            Ok::<(), ForgeError>(())
        })?;
        let what = match who {
            Some(_) => What::Assigned { who: login, on },
            None => What::Unassigned { who: login, on },
        };
        self.effect(doing.by, doing.pull, what);
        Ok(Performed::Done(Made::default()))
    }

    pub(super) fn set_status(
        &mut self,
        doing: &Doing<'_>,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<Performed, ForgeError> {
        if self.repo.quirks.no_statuses || !self.repo.may_write(doing.by) {
            return Ok(Performed::NotPermitted);
        }
        let seen = self.seen();
        if !seen.commits.contains_key(commit) {
            return Err(ForgeError::Refused("there is no such commit".to_owned()));
        }
        let said = seen.statuses.iter().find(|row| row.commit == *commit && row.context == context);
        if said.is_some_and(|row| row.state == state && row.text == text) {
            return Ok(Performed::AlreadySo);
        }
        self.change(|repo| repo.set_status(commit, context, state, text));
        let (commit, context) = (commit.clone(), context.to_owned());
        self.effect(doing.by, doing.pull, What::Status { commit, context, state, text: text.to_owned() });
        Ok(Performed::Done(Made::default()))
    }
}

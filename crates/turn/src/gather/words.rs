//! Reads every text once: Marks and Tags of the identities that roles have, people's commands and stances.

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, Reader, Written};
use referee_core::model::{Board, Login, PullNumber, RoleName, Snapshot, Viewer};
use referee_core::policy::Policy;
use referee_core::say::Calls;

/// The texts of a repository's issues: job records (DSP-18).
pub(crate) fn read_board(board: &mut Board, policy: &Policy, keys: &Keys) {
    let (roles, own) = voices(&board.viewer, policy);
    for issue in &mut board.issues {
        let binding = Binding { forge: board.forge.clone(), repo: board.repo, pull: PullNumber(issue.number.0) };
        let calls = Calls { bots: &own, slash_is_taken: false };
        let reader = Reader { binding: &binding, keys, own: &own, roles: &roles, calls };
        for comment in &mut issue.comments {
            reader.read(&mut comment.text, &comment.author, Written { at: comment.at, edited: comment.edited });
        }
    }
}

/// Who speaks for each role, and all who speak for referee.
fn voices(viewer: &Viewer, policy: &Policy) -> (BTreeMap<RoleName, Login>, Vec<Login>) {
    let roles: BTreeMap<RoleName, Login> =
        policy.roles.iter().map(|role| (role.name.clone(), role.speaks_as(&viewer.login).clone())).collect();
    let mut own: Vec<Login> = roles.values().cloned().collect();
    own.push(viewer.login.clone());
    own.extend(viewer.holds.iter().cloned());
    own.extend(policy.work.iter().map(|work| work.user.clone()));
    (roles, own)
}

pub(super) fn read(snapshot: &mut Snapshot, policy: &Policy, keys: &Keys) {
    let (roles, own) = voices(&snapshot.viewer, policy);
    let binding = Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number };
    let reader = Reader {
        binding: &binding,
        keys,
        own: &own,
        roles: &roles,
        calls: Calls { bots: &own, slash_is_taken: snapshot.capabilities.slash_is_taken },
    };
    for review in &mut snapshot.reviews {
        reader.read(&mut review.text, &review.author, Written { at: review.at, edited: false });
    }
    for note in snapshot.threads.iter_mut().flat_map(|thread| &mut thread.notes) {
        reader.read(&mut note.text, &note.author, Written { at: note.at, edited: note.edited });
    }
    for comment in &mut snapshot.comments {
        reader.read(&mut comment.text, &comment.author, Written { at: comment.at, edited: comment.edited });
    }
}

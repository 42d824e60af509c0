//! Parses every text once: Marks and Tags of the roles' identities, and people's commands and stances.

use std::collections::BTreeMap;

use referee_core::mark::{Binding, Keys, TextHistory, TextReader, recover_lost_marks};
use referee_core::model::{Board, Login, PullNumber, RoleName, Snapshot, Viewer};
use referee_core::policy::Policy;
use referee_core::say::CommandPrefixes;

/// Parses the texts of a repository's issues, which contain job records (DSP-18).
pub(crate) fn parse_board_texts(board: &mut Board, policy: &Policy, keys: &Keys) {
    let (roles, own) = collect_identities(&board.viewer, policy);
    for issue in &mut board.issues {
        let binding = Binding { forge: board.forge.clone(), repo: board.repo, pull: PullNumber(issue.number.0) };
        let calls = CommandPrefixes { bot_logins: &own, slash_reserved: false };
        let reader = TextReader { binding: &binding, keys, own_logins: &own, role_logins: &roles, calls };
        for comment in &mut issue.comments {
            reader.read(
                &mut comment.text,
                &comment.author,
                TextHistory { written_at: comment.at, edited: comment.edited },
            );
        }
    }
}

/// Returns the identity of each role, and all logins that referee uses.
fn collect_identities(viewer: &Viewer, policy: &Policy) -> (BTreeMap<RoleName, Login>, Vec<Login>) {
    let roles: BTreeMap<RoleName, Login> =
        policy.roles.iter().map(|role| (role.name.clone(), role.identity_or(&viewer.login).clone())).collect();
    let mut own: Vec<Login> = roles.values().cloned().collect();
    own.push(viewer.login.clone());
    own.extend(viewer.holds.iter().cloned());
    own.extend(policy.work.iter().map(|work| work.user.clone()));
    (roles, own)
}

pub(super) fn parse_snapshot_texts(snapshot: &mut Snapshot, policy: &Policy, keys: &Keys) {
    let (roles, own) = collect_identities(&snapshot.viewer, policy);
    let binding = Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number };
    let reader = TextReader {
        binding: &binding,
        keys,
        own_logins: &own,
        role_logins: &roles,
        calls: CommandPrefixes { bot_logins: &own, slash_reserved: snapshot.capabilities.slash_is_taken },
    };
    for review in &mut snapshot.reviews {
        reader.read(&mut review.text, &review.author, TextHistory { written_at: review.at, edited: false });
    }
    for note in snapshot.threads.iter_mut().flat_map(|thread| &mut thread.notes) {
        reader.read(&mut note.text, &note.author, TextHistory { written_at: note.at, edited: note.edited });
    }
    for comment in &mut snapshot.comments {
        reader.read(&mut comment.text, &comment.author, TextHistory { written_at: comment.at, edited: comment.edited });
    }
    recover_lost_marks(snapshot, policy);
}

//! Parses every text once: Marks and Tags of the roles' identities, and people's commands and stances.

use std::collections::BTreeMap;

use referee_core::facts::judge_completeness;
use referee_core::mark::{Binding, Keys, TextHistory, TextReader, recover_lost_marks};
use referee_core::model::{Board, Login, PullNumber, RoleName, Snapshot, Viewer};
use referee_core::policy::{Policy, RoleAccounts};
use referee_core::say::CommandPrefixes;

/// Parses the texts of a repository's issues, which contain job records (DSP-18).
pub(crate) fn parse_board_texts(board: &mut Board, policy: &Policy, keys: &Keys) {
    let accounts = Accounts::collect(&board.viewer, policy);
    for issue in &mut board.issues {
        let binding = Binding { forge: board.forge.clone(), repo: board.repo, pull: PullNumber(issue.number.0) };
        let calls = CommandPrefixes { bot_logins: &accounts.called, slash_reserved: false };
        let (own_logins, role_logins) = (&accounts.authors[..], &accounts.roles);
        let reader = TextReader { binding: &binding, keys, own_logins, role_logins, calls };
        for comment in &mut issue.comments {
            reader.read(
                &mut comment.text,
                &comment.author,
                TextHistory { written_at: comment.at, edited: comment.edited },
            );
        }
    }
}

/// The accounts whose Marks and Tags count.
struct Accounts {
    /// The account of each role; `None` if any of `authors` may post for it.
    roles: BTreeMap<RoleName, Option<Login>>,
    /// The accounts that people call to give a command.
    called: Vec<Login>,
    /// These, and for dispatch the `review_users` (PUB-12).
    authors: Vec<Login>,
}

impl Accounts {
    fn collect(viewer: &Viewer, policy: &Policy) -> Self {
        let mut called = vec![viewer.login.clone()];
        called.extend(viewer.holds.iter().cloned());
        called.extend(policy.work.iter().map(|work| work.user.clone()));
        let mut review_users = Vec::new();
        let mut roles = BTreeMap::new();
        for role in &policy.roles {
            let login = match policy.accounts_of(role, &viewer.login) {
                RoleAccounts::One(login) => Some(login.clone()),
                RoleAccounts::ReviewUsers(users) => {
                    review_users.extend(users.iter().cloned());
                    None
                }
            };
            called.extend(login.clone());
            roles.insert(role.name.clone(), login);
        }
        let authors = called.iter().cloned().chain(review_users).collect();
        Self { roles, called, authors }
    }
}

pub(super) fn parse_snapshot_texts(snapshot: &mut Snapshot, policy: &Policy, keys: &Keys) {
    let accounts = Accounts::collect(&snapshot.viewer, policy);
    let binding = Binding { forge: snapshot.pull.forge.clone(), repo: snapshot.pull.repo, pull: snapshot.pull.number };
    let reader = TextReader {
        binding: &binding,
        keys,
        own_logins: &accounts.authors,
        role_logins: &accounts.roles,
        calls: CommandPrefixes { bot_logins: &accounts.called, slash_reserved: snapshot.capabilities.slash_is_taken },
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
    snapshot.complete = judge_completeness(snapshot, &accounts.authors);
    recover_lost_marks(snapshot, policy);
}

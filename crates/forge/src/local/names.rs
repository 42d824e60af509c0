//! Names on the local forge: `L7` for a pull, a letter and a row id for everything else, and logins of people.

use referee_core::model::{CommentId, EditId, Login, NoteId, PullNumber, ReviewId, ThreadId};
use referee_git::GitIdentity;

/// referee's login.
pub(super) const BOT_LOGIN: &str = "referee";

/// Formats the number of a local pull: `L7`.
pub fn format_local_name(pull: PullNumber) -> String {
    format!("L{}", pull.0)
}

/// Returns the login of the git user: the name in lower case, otherwise the local part of the email address, otherwise
/// `author`. Nobody gets referee's login: their texts would count as referee's.
pub fn login_from_git_user(user: &GitIdentity) -> Login {
    let before_at = user.email.as_deref().and_then(|email| email.split('@').next());
    let named = [user.name.as_deref(), before_at].into_iter().flatten().map(normalise_login);
    let name = named.into_iter().find(|name| !name.is_empty() && name != BOT_LOGIN);
    Login(name.unwrap_or_else(|| "author".to_owned()))
}

fn normalise_login(name: &str) -> String {
    let words: Vec<String> = name
        .split_whitespace()
        .map(|word| {
            word.to_lowercase().chars().filter(|c| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-')).collect()
        })
        .filter(|word: &String| !word.is_empty())
        .collect();
    words.join("-")
}

pub(super) fn review_id(row: i64) -> ReviewId {
    ReviewId(format!("r{row}"))
}

pub(super) fn edit_id(text: i64) -> EditId {
    EditId(format!("e{text}"))
}

pub(super) fn thread_id(row: i64) -> ThreadId {
    ThreadId(format!("t{row}"))
}

pub(super) fn note_id(text: i64) -> NoteId {
    NoteId(format!("n{text}"))
}

pub(super) fn comment_id(text: i64) -> CommentId {
    CommentId(format!("c{text}"))
}

/// Parses the row id in a name; -1, which no row has, if there is none.
pub(super) fn parse_row_id(name: &str, letter: char) -> i64 {
    name.strip_prefix(letter).and_then(|digits| digits.parse().ok()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use referee_git::GitIdentity;

    use super::login_from_git_user;

    #[test]
    fn people_are_named_as_in_git() {
        for (name, email, login) in [
            (Some("Ada Lovelace"), None, "ada-lovelace"),
            (Some("  Jo\u{e3}o  d'Arc "), None, "joo-darc"),
            (Some("\u{738b}"), Some("wang.w@example.org"), "wang.w"),
            (None, Some("@"), "author"),
            (Some("Referee"), Some("ref@example.org"), "ref"),
            (None, None, "author"),
        ] {
            let user = GitIdentity { name: name.map(str::to_owned), email: email.map(str::to_owned) };
            assert_eq!(login_from_git_user(&user).as_str(), login, "{name:?} {email:?}");
        }
    }
}

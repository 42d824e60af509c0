//! JSON of users.

use referee_core::model::{Login, Time};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time};

/// The login shown for a deleted user.
const GHOST_LOGIN: &str = "Ghost";

impl JsonRenderer<'_> {
    pub(in crate::dialect) fn user(&self, login: &Login) -> Value {
        let is_deleted = self.repo.users.get(login).is_some_and(|user| user.deleted);
        let (name, id) = if is_deleted { (GHOST_LOGIN, -1) } else { (login.as_str(), user_id(login.as_str())) };
        let mut user = json!({
            "id": id,
            "login": name,
            "login_name": "",
            "source_id": 0,
            "full_name": "",
            "email": format!("{}@noreply.example.org", name.to_lowercase()),
            "avatar_url": self.page_url("avatars/0"),
            "html_url": self.page_url(name),
            "language": "",
            "is_admin": false,
            "last_login": format_time(Time(0)),
            "created": format_time(Time(0)),
            "restricted": false,
            "active": true,
            "prohibit_login": false,
            "location": "",
            "website": "",
            "description": "",
            "visibility": "public",
            "followers_count": 0,
            "following_count": 0,
            "starred_repos_count": 0,
            "username": name,
        });
        if self.dialect().is_forgejo() {
            user["pronouns"] = json!("");
        }
        user
    }

    pub(in crate::dialect) fn users(&self, logins: &[Login]) -> Value {
        match logins {
            [] if self.dialect().is_forgejo() => Value::Null,
            _ => logins.iter().map(|login| self.user(login)).collect(),
        }
    }
}

/// Returns a stable id for a login: its FNV-1a hash.
fn user_id(login: &str) -> i64 {
    let hash = login.bytes().fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    i64::from(hash >> 4) + 2
}

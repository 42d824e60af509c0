//! The accounts of a server. Creating the database and the accounts takes many seconds, so a template is created once per
//! build and stored beside it; each start copies the template.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::{ServerBuild, cache_dir};
use super::process::{CONFIG_FILE, isolate, render_config, unique_name, write_config};

/// The administrator.
pub const ADMIN: &str = "keeper";

/// The owner of all repositories.
pub const OWNER: &str = "owner";

/// Identities of referee: write access, and tokens with only the scopes that a reviewer needs.
pub const BOTS: [&str; 2] = ["referee", "sec"];

/// The other accounts and the scopes of their tokens.
const ACCOUNTS: [(&str, &str); 7] = [
    (ADMIN, "all"),
    (OWNER, "all"),
    ("alice", "all"),
    ("ruth", "all"),
    ("passer-by", "all"),
    (BOTS[0], REVIEWER_SCOPES),
    (BOTS[1], REVIEWER_SCOPES),
];

/// The scopes that a reviewer needs, including the one to read its own login.
const REVIEWER_SCOPES: &str = "write:repository,write:issue,read:user";

/// The password of every account. It is valid only on loopback servers that stop with their test.
pub(super) const PASSWORD: &str = "only-for-suites";

/// Tokens by login.
pub(super) type Tokens = BTreeMap<String, String>;

/// Returns the folder of a server with all accounts that never ran a test, and the tokens.
pub(super) fn load_accounts(build: ServerBuild) -> Result<(PathBuf, Tokens), String> {
    let mut fingerprint = DefaultHasher::new();
    (ACCOUNTS, render_config("", "", 0)).hash(&mut fingerprint);
    let template = cache_dir()?.join(format!("{build}-people-{:016x}", fingerprint.finish()));
    if !template.join(TOKENS_FILE).is_file() {
        create_accounts_once(build, &template)?;
    }
    let tokens = fs::read_to_string(template.join(TOKENS_FILE)).map_err(|error| error.to_string())?;
    let tokens = tokens.lines().filter_map(|line| line.split_once(' '));
    Ok((template.clone(), tokens.map(|(login, token)| (login.to_owned(), token.to_owned())).collect()))
}

const TOKENS_FILE: &str = "tokens";

/// Built under a temporary name and renamed, so that a concurrent test never sees half of it.
fn create_accounts_once(build: ServerBuild, template: &Path) -> Result<(), String> {
    let draft = template.with_file_name(unique_name(&format!("{build}-people")));
    let created =
        create_accounts(build, &draft).and_then(|()| fs::rename(&draft, template).map_err(|error| error.to_string()));
    if created.is_err() {
        let _ = fs::remove_dir_all(&draft);
    }
    // A concurrent test was faster; its template is as good.
    if template.join(TOKENS_FILE).is_file() { Ok(()) } else { created }
}

fn create_accounts(build: ServerBuild, draft: &Path) -> Result<(), String> {
    fs::create_dir_all(draft.join("data")).map_err(|error| error.to_string())?;
    write_config(build, draft, 0).map_err(|error| error.to_string())?;
    let run = |args: &[&str]| run_admin_command(build, draft, args);
    run(&["migrate"])?;
    let mut tokens = String::new();
    for (login, scopes) in ACCOUNTS {
        let mail = format!("{login}@example.org");
        let mut user = vec!["admin", "user", "create", "--username", login, "--email", &mail];
        user.extend(["--password", PASSWORD, "--must-change-password=false"]);
        user.extend((login == ADMIN).then_some("--admin"));
        run(&user)?;
        let token = ["admin", "user", "generate-access-token", "--username", login, "--token-name", "suites", "--raw"];
        let output = run(&[&token[..], &["--scopes", scopes]].concat())?;
        let token = output.lines().last().unwrap_or_default();
        tokens.push_str(&format!("{login} {token}\n"));
    }
    fs::write(draft.join(TOKENS_FILE), tokens).map_err(|error| error.to_string())
}

fn run_admin_command(build: ServerBuild, folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(build.program_path()?);
    isolate(&mut command, folder);
    let output =
        command.arg("-c").arg(folder.join(CONFIG_FILE)).args(args).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!("`{}` failed: {}\n{}", args.join(" "), text(&output.stdout), text(&output.stderr)))
}

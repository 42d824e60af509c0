//! Who is on a server. Making a database and people takes a server many seconds, so that is done once per build and
//! kept beside the build; a start copies it.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::{ServerBuild, cache_dir};
use super::process::{CONFIG_FILE, isolate, render_config, unique_name, write_config};

/// Whom the server belongs to.
pub const ADMIN: &str = "keeper";

/// Whom repositories belong to.
pub const OWNER: &str = "owner";

/// Identities of referee: they may write, and their tokens can do what a reviewer needs and nothing else.
pub const BOTS: [&str; 2] = ["referee", "sec"];

/// People and what their tokens can do.
const ACCOUNTS: [(&str, &str); 7] = [
    (ADMIN, "all"),
    (OWNER, "all"),
    ("alice", "all"),
    ("ruth", "all"),
    ("passer-by", "all"),
    (BOTS[0], REVIEWER_SCOPES),
    (BOTS[1], REVIEWER_SCOPES),
];

/// All that a reviewer needs, and its own name.
const REVIEWER_SCOPES: &str = "write:repository,write:issue,read:user";

/// Everybody's, and it opens nothing but servers on loopback that end with their test.
pub(super) const PASSWORD: &str = "only-for-suites";

/// Tokens by login.
pub(super) type Tokens = BTreeMap<String, String>;

/// The folder of a server that never ran, with everybody on it, and their tokens.
pub(super) fn load_accounts(build: ServerBuild) -> Result<(PathBuf, Tokens), String> {
    let mut recipe = DefaultHasher::new();
    (ACCOUNTS, render_config("", "", 0)).hash(&mut recipe);
    let home = cache_dir()?.join(format!("{build}-people-{:016x}", recipe.finish()));
    if !home.join(TOKENS_FILE).is_file() {
        create_accounts_once(build, &home)?;
    }
    let tokens = fs::read_to_string(home.join(TOKENS_FILE)).map_err(|error| error.to_string())?;
    let tokens = tokens.lines().filter_map(|line| line.split_once(' '));
    Ok((home.clone(), tokens.map(|(login, token)| (login.to_owned(), token.to_owned())).collect()))
}

const TOKENS_FILE: &str = "tokens";

/// Made aside and moved, so that two tests at once cannot see half of it.
fn create_accounts_once(build: ServerBuild, home: &Path) -> Result<(), String> {
    let aside = home.with_file_name(unique_name(&format!("{build}-people")));
    let made =
        create_accounts(build, &aside).and_then(|()| fs::rename(&aside, home).map_err(|error| error.to_string()));
    if made.is_err() {
        let _ = fs::remove_dir_all(&aside);
    }
    // Somebody else was faster: theirs is as good.
    if home.join(TOKENS_FILE).is_file() { Ok(()) } else { made }
}

fn create_accounts(build: ServerBuild, aside: &Path) -> Result<(), String> {
    fs::create_dir_all(aside.join("data")).map_err(|error| error.to_string())?;
    write_config(build, aside, 0).map_err(|error| error.to_string())?;
    let run = |args: &[&str]| run_admin_command(build, aside, args);
    run(&["migrate"])?;
    let mut tokens = String::new();
    for (login, scopes) in ACCOUNTS {
        let mail = format!("{login}@example.org");
        let mut user = vec!["admin", "user", "create", "--username", login, "--email", &mail];
        user.extend(["--password", PASSWORD, "--must-change-password=false"]);
        user.extend((login == ADMIN).then_some("--admin"));
        run(&user)?;
        let token = ["admin", "user", "generate-access-token", "--username", login, "--token-name", "suites", "--raw"];
        let told = run(&[&token[..], &["--scopes", scopes]].concat())?;
        let token = told.lines().last().unwrap_or_default();
        tokens.push_str(&format!("{login} {token}\n"));
    }
    fs::write(aside.join(TOKENS_FILE), tokens).map_err(|error| error.to_string())
}

fn run_admin_command(build: ServerBuild, folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(build.program_path()?);
    isolate(&mut command, folder);
    let ended =
        command.arg("-c").arg(folder.join(CONFIG_FILE)).args(args).output().map_err(|error| error.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ended.status.success() {
        return Ok(said(&ended.stdout));
    }
    Err(format!("`{}` failed: {}\n{}", args.join(" "), said(&ended.stdout), said(&ended.stderr)))
}

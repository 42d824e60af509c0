//! Who is on a server. Making a database and people takes a server many seconds, so that is done once per build and
//! kept beside the build; a start copies it.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::{Build, cache};
use super::process::{INI, configure, fresh, ini, isolate};

/// Whom the server belongs to.
pub const KEEPER: &str = "keeper";

/// Whom repositories belong to.
pub const OWNER: &str = "owner";

/// Identities of referee: they may write, and their tokens can do what a reviewer needs and nothing else.
pub const BOTS: [&str; 2] = ["referee", "sec"];

/// People and what their tokens can do.
const PEOPLE: [(&str, &str); 7] = [
    (KEEPER, "all"),
    (OWNER, "all"),
    ("alice", "all"),
    ("ruth", "all"),
    ("passer-by", "all"),
    (BOTS[0], LEAST),
    (BOTS[1], LEAST),
];

/// All that a reviewer needs, and its own name.
const LEAST: &str = "write:repository,write:issue,read:user";

/// Everybody's, and it opens nothing but servers on loopback that end with their test.
pub(super) const PASSWORD: &str = "only-for-suites";

/// Tokens by login.
pub(super) type Tokens = BTreeMap<String, String>;

/// The folder of a server that never ran, with everybody on it, and their tokens.
pub(super) fn settled(build: Build) -> Result<(PathBuf, Tokens), String> {
    let mut recipe = DefaultHasher::new();
    (PEOPLE, ini("", "", 0)).hash(&mut recipe);
    let home = cache()?.join(format!("{build}-people-{:016x}", recipe.finish()));
    if !home.join(TOKENS).is_file() {
        settle(build, &home)?;
    }
    let tokens = fs::read_to_string(home.join(TOKENS)).map_err(|error| error.to_string())?;
    let tokens = tokens.lines().filter_map(|line| line.split_once(' '));
    Ok((home.clone(), tokens.map(|(login, token)| (login.to_owned(), token.to_owned())).collect()))
}

const TOKENS: &str = "tokens";

/// Made aside and moved, so that two tests at once cannot see half of it.
fn settle(build: Build, home: &Path) -> Result<(), String> {
    let aside = home.with_file_name(fresh(&format!("{build}-people")));
    let made = people_in(build, &aside).and_then(|()| fs::rename(&aside, home).map_err(|error| error.to_string()));
    if made.is_err() {
        let _ = fs::remove_dir_all(&aside);
    }
    // Somebody else was faster: theirs is as good.
    if home.join(TOKENS).is_file() { Ok(()) } else { made }
}

fn people_in(build: Build, aside: &Path) -> Result<(), String> {
    fs::create_dir_all(aside.join("data")).map_err(|error| error.to_string())?;
    configure(build, aside, 0).map_err(|error| error.to_string())?;
    let run = |args: &[&str]| tell(build, aside, args);
    run(&["migrate"])?;
    let mut tokens = String::new();
    for (login, scopes) in PEOPLE {
        let mail = format!("{login}@example.org");
        let mut user = vec!["admin", "user", "create", "--username", login, "--email", &mail];
        user.extend(["--password", PASSWORD, "--must-change-password=false"]);
        user.extend((login == KEEPER).then_some("--admin"));
        run(&user)?;
        let token = ["admin", "user", "generate-access-token", "--username", login, "--token-name", "suites", "--raw"];
        let told = run(&[&token[..], &["--scopes", scopes]].concat())?;
        let token = told.lines().last().unwrap_or_default();
        tokens.push_str(&format!("{login} {token}\n"));
    }
    fs::write(aside.join(TOKENS), tokens).map_err(|error| error.to_string())
}

fn tell(build: Build, folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(build.program()?);
    isolate(&mut command, folder);
    let ended = command.arg("-c").arg(folder.join(INI)).args(args).output().map_err(|error| error.to_string())?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ended.status.success() {
        return Ok(said(&ended.stdout));
    }
    Err(format!("`{}` failed: {}\n{}", args.join(" "), said(&ended.stdout), said(&ended.stderr)))
}

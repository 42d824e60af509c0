//! Commits of elsewhere, kept at hand.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success};
use crate::refs::pin_ref;
use crate::{Git, GitError};

/// A name and a secret for a server. Git is told them through its environment: they are in no argument that other
/// programs could list, in no address, in no file.
#[derive(Clone)]
pub struct Credentials {
    /// Who asks; servers that only look at the token take any name.
    pub user: String,
    /// The password or token.
    pub secret: String,
    /// A file with certificates to trust there.
    pub ca_file: Option<PathBuf>,
    /// What stands between here and there.
    pub proxy: Option<String>,
}

impl Credentials {
    /// For a server that is reached directly and that the system trusts.
    pub fn new(user: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { user: user.into(), secret: secret.into(), ca_file: None, proxy: None }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

const FETCH: &str = "fetch";

impl Git {
    /// A bare repository for commits of elsewhere, made when it is missing. It holds repositories of SHA-1 names.
    pub fn open_cache(dir: &Path) -> Result<Git, GitError> {
        let unusable = |source| GitError::Filesystem { dir: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(unusable)?;
        std::fs::create_dir_all(&dir).map_err(unusable)?;
        // One that is there stays as it is, and one that was left half made is made whole.
        Git::from_dir(&dir).run("init", &["--quiet", "--bare", "--template=", "--object-format=sha1", "."])?;
        Ok(Git::from_dir(dir))
    }

    /// How many bytes its objects take on this machine.
    pub fn disk_size(&self) -> Result<u64, GitError> {
        let told = self.run("count-objects", &["-v"])?;
        let told = String::from_utf8_lossy(&told);
        let kib = |key: &str| -> u64 {
            let value = told.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            value.and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        Ok((kib("size") + kib("size-pack")) * 1024)
    }

    /// The same repository, with credentials for one address: [`fetch`](Git::fetch) brings commits and leaves the contents of
    /// files for whoever reads them first, and the server asks that one too.
    pub fn with_credentials(&self, url: &str, credentials: &Credentials) -> Git {
        Git { credentials: Some(Arc::new((url.to_owned(), credentials.clone()))), ..self.clone() }
    }

    /// Fetches commits and what led to them, and [keeps](Git::keep) them. Where the server can leave them out, the contents
    /// of files are fetched when they are first read.
    ///
    /// Only `https`, `http` and `ssh` are spoken, and an absolute path on this machine is read. A server that sends
    /// elsewhere is not followed with credentials. An address with a password in it is refused: git writes addresses down.
    pub fn fetch_commits(&self, url: &str, commits: &[Sha], credentials: Option<&Credentials>) -> Result<(), GitError> {
        let address = UrlKind::parse(url)?;
        let refspecs =
            commits.iter().map(|commit| require_full_sha(commit).map(|name| format!("+{name}:{}", pin_ref(name))));
        let refspecs = refspecs.collect::<Result<Vec<String>, GitError>>()?;
        if refspecs.is_empty() {
            return Ok(());
        }
        // A path is no name under which git could ask for the rest later.
        let filter = (!Path::new(url).is_absolute()).then_some("--filter=blob:none");
        let git = credentials.map_or_else(|| self.clone(), |credentials| self.with_credentials(url, credentials));
        let mut command = git.command_with_options(FETCH, &["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        command
            .args(["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"])
            .args(filter)
            .args(["--end-of-options", url])
            .args(&refspecs)
            .env("GIT_ALLOW_PROTOCOL", address.allowed_protocols());
        require_success(FETCH, git.execute(&mut command)?).map(drop)
    }
}

/// What kind of address it is, because each kind is allowed its own protocols.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlKind {
    Http,
    Ssh,
    Local,
}

impl UrlKind {
    pub(crate) fn parse(url: &str) -> Result<UrlKind, GitError> {
        let refused = |why| GitError::UnsupportedUrl { why };
        let scheme = url.split_once("://").map(|(scheme, rest)| (scheme, rest.split('/').next().unwrap_or_default()));
        match scheme {
            _ if url.starts_with('-') || url.contains(['\0', '\n']) => Err(refused("it is no address")),
            Some(("https" | "http", host)) if host.contains('@') => Err(refused("it holds a name or password")),
            Some(("https" | "http", _)) => Ok(UrlKind::Http),
            Some(("ssh", host)) if host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':')) => {
                Err(refused("it holds a password"))
            }
            Some(("ssh", _)) => Ok(UrlKind::Ssh),
            Some(("file", _)) => Ok(UrlKind::Local),
            Some(_) => Err(refused("only `https`, `http`, `ssh` and local paths are fetched from")),
            None if url.contains("::") => Err(refused("only `https`, `http`, `ssh` and local paths are fetched from")),
            None if Path::new(url).is_absolute() => Ok(UrlKind::Local),
            None if url.split('/').next().is_some_and(|host| host.contains(':')) => Ok(UrlKind::Ssh),
            None => Err(refused("a local path must be absolute")),
        }
    }

    pub(crate) fn allowed_protocols(self) -> &'static str {
        match self {
            UrlKind::Http => "https:http",
            UrlKind::Ssh => "ssh",
            UrlKind::Local => "file",
        }
    }
}

/// What a web server is told.
pub(crate) fn authorization_header(credentials: &Credentials) -> String {
    let Credentials { user, secret, .. } = credentials;
    format!("Authorization: Basic {}", encode_base64(format!("{user}:{secret}").as_bytes()))
}

fn encode_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        [18, 12, 6, 0].map(|shift| char::from(ALPHABET[(bits >> shift & 63) as usize]))
    };
    let mut text: String = bytes.chunks(3).flat_map(four).collect();
    let unused = (3 - bytes.len() % 3) % 3;
    text.truncate(text.len() - unused);
    text.extend(std::iter::repeat_n('=', unused));
    text
}

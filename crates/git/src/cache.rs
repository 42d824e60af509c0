//! A bare repository that caches commits of remote repositories, and the credentials to fetch them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success};
use crate::refs::pin_ref;
use crate::{Git, GitError};

/// User and secret for a server. Git gets them through its environment, so they appear in no argument list (which other
/// processes can read), no URL and no file.
#[derive(Clone)]
pub struct Credentials {
    /// Servers that only check the token accept any user.
    pub user: String,
    /// Password or token.
    pub secret: String,
    /// CA certificates to trust for this server, in PEM.
    pub ca_file: Option<PathBuf>,
    pub proxy: Option<String>,
}

impl Credentials {
    /// Credentials without a proxy, for a server whose certificate the system trusts.
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
    /// Opens the bare cache repository in `dir`, and creates it if it is missing. It holds SHA-1 repositories only.
    pub fn open_cache(dir: &Path) -> Result<Git, GitError> {
        let filesystem_error = |source| GitError::Filesystem { dir: dir.to_owned(), source };
        let dir = std::path::absolute(dir).map_err(filesystem_error)?;
        std::fs::create_dir_all(&dir).map_err(filesystem_error)?;
        // `git init` keeps an existing repository and completes one whose creation was interrupted.
        Git::from_dir(&dir).run("init", &["--quiet", "--bare", "--template=", "--object-format=sha1", "."])?;
        Ok(Git::from_dir(dir))
    }

    /// Returns the disk space that the objects take, in bytes.
    pub fn disk_size(&self) -> Result<u64, GitError> {
        let output = self.run("count-objects", &["-v"])?;
        let output = String::from_utf8_lossy(&output);
        let kib = |key: &str| -> u64 {
            let value = output.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            value.and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        Ok((kib("size") + kib("size-pack")) * 1024)
    }

    /// Returns the same repository with credentials for one URL. Readers need them too:
    /// [`fetch_commits`](Git::fetch_commits) leaves out blobs, and git fetches those on first read.
    pub fn with_credentials(&self, url: &str, credentials: &Credentials) -> Git {
        Git { credentials: Some(Arc::new((url.to_owned(), credentials.clone()))), ..self.clone() }
    }

    /// Fetches commits with their history and [pins](Git::pin_commit) them. If the server supports partial clones,
    /// blobs are fetched on first read.
    ///
    /// Accepts `https`, `http` and `ssh` URLs and absolute local paths. With credentials it does not follow redirects.
    /// Refuses a URL with a password, because git stores URLs in its config.
    pub fn fetch_commits(&self, url: &str, commits: &[Sha], credentials: Option<&Credentials>) -> Result<(), GitError> {
        let url_kind = UrlKind::parse(url)?;
        let refspecs =
            commits.iter().map(|commit| require_full_sha(commit).map(|name| format!("+{name}:{}", pin_ref(name))));
        let refspecs = refspecs.collect::<Result<Vec<String>, GitError>>()?;
        if refspecs.is_empty() {
            return Ok(());
        }
        // Git cannot fetch missing blobs from a path later.
        let filter = (!Path::new(url).is_absolute()).then_some("--filter=blob:none");
        let git = credentials.map_or_else(|| self.clone(), |credentials| self.with_credentials(url, credentials));
        let mut command = git.command_with_options(FETCH, &["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        command
            .args(["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"])
            .args(filter)
            .args(["--end-of-options", url])
            .args(&refspecs)
            .env("GIT_ALLOW_PROTOCOL", url_kind.allowed_protocols());
        require_success(FETCH, git.execute(&mut command)?).map(drop)
    }
}

/// The kind of a URL, which decides the protocols that git may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlKind {
    Http,
    Ssh,
    Local,
}

impl UrlKind {
    pub(crate) fn parse(url: &str) -> Result<UrlKind, GitError> {
        let unsupported = |reason| GitError::UnsupportedUrl { reason };
        let scheme = url.split_once("://").map(|(scheme, rest)| (scheme, rest.split('/').next().unwrap_or_default()));
        match scheme {
            _ if url.starts_with('-') || url.contains(['\0', '\n']) => Err(unsupported("it is not a URL")),
            Some(("https" | "http", host)) if host.contains('@') => {
                Err(unsupported("it contains a user name or password"))
            }
            Some(("https" | "http", _)) => Ok(UrlKind::Http),
            Some(("ssh", host)) if host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':')) => {
                Err(unsupported("it contains a password"))
            }
            Some(("ssh", _)) => Ok(UrlKind::Ssh),
            Some(("file", _)) => Ok(UrlKind::Local),
            Some(_) => Err(unsupported("only `https`, `http`, `ssh` and local paths are supported")),
            None if url.contains("::") => Err(unsupported("only `https`, `http`, `ssh` and local paths are supported")),
            None if Path::new(url).is_absolute() => Ok(UrlKind::Local),
            None if url.split('/').next().is_some_and(|host| host.contains(':')) => Ok(UrlKind::Ssh),
            None => Err(unsupported("a local path must be absolute")),
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

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, io, process, thread};

use super::build::ServerBuild;
use super::{copy_dir, raw_http};

/// How long a server may take until its first response, on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs the server through a shell that first forks a watchdog. The watchdog blocks on a pipe held open by the test
/// process; when the test process ends, for any reason, it kills the server's process group and removes the folder.
const WATCHDOG_SCRIPT: &str = r#"
exec 3<&0
(read -r _ <&3; kill "$$"; sleep 1; rm -rf "$0"; kill -s KILL 0) &
exec "$@" </dev/null 3<&-
"#;

/// A server process in its own folder.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    pub(super) port: u16,
    pub(super) folder: PathBuf,
}

impl ServerProcess {
    /// Starts a server on a copy of that folder and waits until it responds.
    pub(super) fn start(build: ServerBuild, template: &Path) -> Result<Self, String> {
        let mut failure = String::new();
        // Another process may take the port between the probe and the bind.
        for _ in 0..3 {
            let started = Self::spawn(build, template).map_err(|error| error.to_string())?;
            match started.wait_until_ready() {
                Ok(process) => return Ok(process),
                Err(log) => failure = log,
            }
        }
        Err(failure)
    }

    fn spawn(build: ServerBuild, template: &Path) -> io::Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = env::temp_dir().join(unique_name(&format!("referee-{build}")));
        copy_dir(template, &folder)?;
        write_config(build, &folder, port)?;
        let (program, log) = (build.program_path().map_err(io::Error::other)?, File::create(folder.join(LOG_FILE))?);
        let mut command = Command::new("sh");
        command
            .args(["-c", WATCHDOG_SCRIPT])
            .arg(&folder)
            .arg(program)
            .arg("-c")
            .arg(folder.join(CONFIG_FILE))
            .arg("web");
        isolate(&mut command, &folder);
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log).process_group(0);
        Ok(Self { child: command.spawn()?, port, folder })
    }

    fn wait_until_ready(mut self) -> Result<Self, String> {
        let started_at = Instant::now();
        while started_at.elapsed() < START_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            let response = raw_http::send_request(self.port, None, "GET", "/api/v1/version", None);
            if response.is_ok_and(|response| response.is_success()) {
                return Ok(self);
            }
            thread::park_timeout(Duration::from_millis(50));
        }
        Err(format!("no response within {} s\n{}", START_TIMEOUT.as_secs(), self.log()))
    }

    /// Returns the log so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join(LOG_FILE)).unwrap_or_default()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The server is being stopped: its exit status does not matter.
        let _ = self.child.wait();
    }
}

const LOG_FILE: &str = "server.log";
pub(super) const CONFIG_FILE: &str = "custom/conf/app.ini";

/// Returns a name that is unique across processes and threads.
pub(super) fn unique_name(what: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Clears the environment, so that neither the server nor its git sees the user's configuration. Servers write git's
/// global configuration, so `HOME` points into the folder.
pub(super) fn isolate(command: &mut Command, home: &Path) {
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let is_git_setting =
            name.starts_with("GIT_") && !["GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT"].contains(&&*name);
        if is_git_setting || name == "XDG_CONFIG_HOME" || name.to_lowercase().ends_with("_proxy") {
            command.env_remove(&*name);
        }
    }
}

/// Writes the server's configuration: loopback only, SQLite, no mail, no outgoing requests. Everything that a client can
/// observe keeps the server's defaults.
pub(super) fn write_config(build: ServerBuild, folder: &Path, port: u16) -> io::Result<()> {
    let files = build.static_files().map_err(io::Error::other)?;
    let ini = render_config(&files.display().to_string(), &folder.display().to_string(), port);
    let config_path = folder.join(CONFIG_FILE);
    fs::create_dir_all(config_path.parent().unwrap_or(folder))?;
    fs::write(config_path, ini)
}

/// Returns the configuration with machine-specific values removed, for the fingerprint of the template.
pub(super) fn render_config(files: &str, folder: &str, port: u16) -> String {
    format!(
        "APP_NAME = referee's suites
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = {folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {files}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {folder}/data/forge.db
[security]
INSTALL_LOCK = true
SECRET_KEY = only-on-loopback-and-only-for-suites
INTERNAL_TOKEN = eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJuYmYiOjE3MDAwMDAwMDB9.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[oauth2]
ENABLED = false
[actions]
ENABLED = false
[log]
MODE = console
LEVEL = warn
[cron]
ENABLED = false
"
    )
}

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

/// How long a server may take to answer for the first time, on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Becomes the server, and leaves somebody behind who reads from a pipe of which the tests hold the other end: its end,
/// however it came, ends the server and all that it started, and takes the folder away.
const WATCHDOG_SCRIPT: &str = r#"
exec 3<&0
(read -r _ <&3; kill "$$"; sleep 1; rm -rf "$0"; kill -s KILL 0) &
exec "$@" </dev/null 3<&-
"#;

/// A server's process in a folder of its own.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    pub(super) port: u16,
    pub(super) folder: PathBuf,
}

impl ServerProcess {
    /// Starts a server with a copy of that folder, and waits until it answers.
    pub(super) fn start(build: ServerBuild, from: &Path) -> Result<Self, String> {
        let mut why = String::new();
        // Another program may take a port between finding and using it.
        for _ in 0..3 {
            let started = Self::spawn(build, from).map_err(|error| error.to_string())?;
            match started.wait_until_ready() {
                Ok(process) => return Ok(process),
                Err(log) => why = log,
            }
        }
        Err(why)
    }

    fn spawn(build: ServerBuild, from: &Path) -> io::Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = env::temp_dir().join(unique_name(&format!("referee-{build}")));
        copy_dir(from, &folder)?;
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
        let from = Instant::now();
        while from.elapsed() < START_TIMEOUT && matches!(self.child.try_wait(), Ok(None)) {
            let answer = raw_http::send_request(self.port, None, "GET", "/api/v1/version", None);
            if answer.is_ok_and(|answer| answer.is_success()) {
                return Ok(self);
            }
            thread::park_timeout(Duration::from_millis(50));
        }
        Err(format!("it does not answer\n{}", self.log()))
    }

    /// What it wrote so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join(LOG_FILE)).unwrap_or_default()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It was told to end; how it did is all the same.
        let _ = self.child.wait();
    }
}

const LOG_FILE: &str = "server.log";
pub(super) const CONFIG_FILE: &str = "custom/conf/app.ini";

/// A name that no other process and no other thread of this one uses.
pub(super) fn unique_name(what: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A server and its git see nothing of whoever runs the tests, and write no configuration but in that folder: servers
/// do write git's global one, wherever the environment says that it is.
pub(super) fn isolate(command: &mut Command, home: &Path) {
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let git = name.starts_with("GIT_") && !["GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT"].contains(&&*name);
        if git || name == "XDG_CONFIG_HOME" || name.to_lowercase().ends_with("_proxy") {
            command.env_remove(&*name);
        }
    }
}

/// Writes what a server is told: loopback only, SQLite, no mail, no outside, and the defaults of its makers in all that
/// a client can notice.
pub(super) fn write_config(build: ServerBuild, folder: &Path, port: u16) -> io::Result<()> {
    let files = build.static_files().map_err(io::Error::other)?;
    let ini = render_config(&files.display().to_string(), &folder.display().to_string(), port);
    let place = folder.join(CONFIG_FILE);
    fs::create_dir_all(place.parent().unwrap_or(folder))?;
    fs::write(place, ini)
}

/// The same for a description of what the template holds, with nothing of a machine in it.
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

//! A run, from outside.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{DumpableBehavior, Pid, Signal, kill_process, kill_process_group, set_dumpable_behavior};

use super::fence::Fence;
use super::printed::Printed;
use super::relay::Relay;
use super::{Beat, Cage, Ended, Tier, bubble, env, inside};
use crate::failure::Failure;

/// How often there is a sign of life.
const BEAT: Duration = Duration::from_secs(1);

/// How long the guard may take to end all, and the last prints to arrive.
const GRACE: Duration = Duration::from_secs(20);

/// What the threads of a run tell.
enum News {
    /// The guard's line.
    Ended(Ended),
    /// The guard is gone.
    Gone,
    /// Nobody prints any more.
    Silent,
}

pub(super) fn run(cage: &Cage, argv: &[String], prompt: &str, tick: &mut dyn FnMut(Beat)) -> Result<Ended, Failure> {
    let failed = |what: &str, error: std::io::Error| Failure::failed(format!("no worker ran: {what}: {error}"));
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if !bubble::is_there(program) {
        return Err(Failure::usage(format!("no worker ran: `{program}` is not on the PATH"))
            .hint("install the agent, or mend its `argv` in the operator file"));
    }
    // Tokens are in this process's environment, and below tier 2 the agent may be of the same user.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    fs::create_dir_all(cage.home.join("tmp")).map_err(|error| failed("its home", error))?;
    let printed = Printed::open(&cage.log, cage.limits.log).map_err(|error| failed("its log", error))?;
    let printed = Arc::new(printed);
    let folder = tempfile::Builder::new().prefix("referee-cage-").tempdir();
    let folder = folder.map_err(|error| failed("a folder for its way out", error))?;
    let relay = match cage.tier {
        Tier::Sealed if !cage.egress.is_empty() => Some(
            Relay::open(&folder.path().join("relay"), &cage.egress, &printed)
                .map_err(|error| failed("its way out", error))?,
        ),
        _ => None,
    };
    let fence = Fence::build(&cage.limits);
    let started = Instant::now();
    let guard = start(cage, argv, folder.path(), fence.as_ref()).map_err(|error| failed("its guard", error));
    let ended = guard.and_then(|guard| {
        watch(guard, cage, prompt, &printed, started, tick).map_err(|error| failed("its guard", error))
    });
    if let Some(fence) = fence {
        fence.clear();
    }
    drop(relay);
    tick(beat(started, &printed));
    ended
}

fn beat(started: Instant, printed: &Printed) -> Beat {
    let (printed, cut) = printed.count();
    Beat { elapsed: started.elapsed(), printed, cut }
}

fn start(cage: &Cage, argv: &[String], folder: &Path, fence: Option<&Fence>) -> std::io::Result<Child> {
    let own = std::env::current_exe()?;
    let mut guard = Command::new(&own);
    guard.args(["cage", "guard"]);
    if let Some(fence) = fence {
        guard.arg("--fence").arg(fence.folder());
    }
    guard.arg("--");
    match cage.tier {
        Tier::Open | Tier::Apart => {
            guard.arg(&own).args(["cage", "enter", "--limits", &cage.limits.to_string(), "--"]);
        }
        Tier::Sealed => {
            guard.args(bubble::arguments(cage, argv, folder, &own)?);
        }
    }
    guard.args(argv).current_dir(&cage.work).env_clear().envs(env::environment(cage));
    guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn watch(
    mut guard: Child,
    cage: &Cage,
    prompt: &str,
    printed: &Arc<Printed>,
    started: Instant,
    tick: &mut dyn FnMut(Beat),
) -> std::io::Result<Ended> {
    let pid = i32::try_from(guard.id()).ok().and_then(Pid::from_raw);
    let (tell, told) = mpsc::channel();
    if let Some(prints) = guard.stderr.take() {
        let (tell, printed) = (tell.clone(), Arc::clone(printed));
        thread::spawn(move || {
            printed.take(prints);
            let _ = tell.send(News::Silent);
        });
    }
    let reports = guard.stdout.take();
    thread::spawn(move || {
        for line in reports.into_iter().flat_map(|reports| BufReader::new(reports).lines()).map_while(Result::ok) {
            if let Some(ended) = inside::read(&line) {
                let _ = tell.send(News::Ended(ended));
            }
        }
        let _ = tell.send(News::Gone);
    });
    let mut hold = guard.stdin.take();
    if let Some(stdin) = &mut hold {
        // Where this fails the guard is gone already, and is found so.
        let _ = ask(stdin, prompt);
    }
    let mut next = || tick(beat(started, printed));
    let seen = wait(&told, &mut hold, started, cage.deadline, &mut next);
    if seen.stubborn
        && let Some(pid) = pid
    {
        let _ = kill_process(pid, Signal::KILL);
    }
    guard.wait()?;
    if let Some(pid) = pid {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    // Whoever holds the other end is dead by now, or is not to be waited for.
    while !seen.silent && matches!(told.recv_timeout(GRACE), Ok(News::Ended(_) | News::Gone)) {}
    match seen.ended {
        _ if seen.late => Ok(Ended::TimedOut),
        // Bubblewrap and the tunnel know no other way to say it.
        Some(Ended::Exited(code)) if code > 128 && cage.tier == Tier::Sealed => Ok(Ended::Signalled),
        Some(ended) => Ok(ended),
        // Whoever ended the guard was not the cage.
        None => Ok(Ended::Signalled),
    }
}

fn ask(stdin: &mut ChildStdin, prompt: &str) -> std::io::Result<()> {
    writeln!(stdin, "{}", prompt.len())?;
    stdin.write_all(prompt.as_bytes())?;
    stdin.flush()
}

/// What was seen until the guard was gone.
#[derive(Default)]
struct Seen {
    ended: Option<Ended>,
    late: bool,
    silent: bool,
    stubborn: bool,
}

fn wait(
    told: &Receiver<News>,
    hold: &mut Option<ChildStdin>,
    started: Instant,
    deadline: Duration,
    tick: &mut dyn FnMut(),
) -> Seen {
    let mut seen = Seen::default();
    loop {
        let left = match hold {
            Some(_) => deadline.saturating_sub(started.elapsed()),
            None => (deadline + GRACE).saturating_sub(started.elapsed()),
        };
        match told.recv_timeout(left.min(BEAT)) {
            Ok(News::Ended(ended)) => seen.ended = Some(ended),
            Ok(News::Silent) => seen.silent = true,
            Ok(News::Gone) | Err(RecvTimeoutError::Disconnected) => return seen,
            Err(RecvTimeoutError::Timeout) if started.elapsed() < deadline => tick(),
            Err(RecvTimeoutError::Timeout) if hold.is_some() => {
                seen.late = seen.ended.is_none();
                *hold = None;
            }
            Err(RecvTimeoutError::Timeout) if started.elapsed() >= deadline + GRACE => {
                seen.stubborn = true;
                return seen;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

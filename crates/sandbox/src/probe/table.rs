//! The table of probes: what each attempts, and the lowest tier that promises to stop it. `docs/sandbox.md` has the same
//! rows in the same order; a test compares them.

use super::testbed::ProbeTestbed;
use super::{ProbeFacts, ProbeResult, machine, network, process, runs};
use crate::Tier::{self, Bubblewrap, OwnHome, Scrubbed};
use ProbeMethod::{InSandbox, SeparateRun};

/// One attempt to break out.
pub(super) struct Probe {
    pub(super) name: &'static str,
    /// What is attempted.
    pub(super) description: &'static str,
    /// The lowest tier that promises to stop the attempt. Lower tiers do not run it: it would succeed.
    pub(super) min_tier: Tier,
    pub(super) method: ProbeMethod,
}

/// Where a probe runs.
#[derive(Clone, Copy)]
pub(super) enum ProbeMethod {
    /// Inside, in one run together with the others.
    InSandbox(fn(&ProbeFacts) -> ProbeResult),
    /// In a sandboxed run of its own, judged from outside.
    SeparateRun(fn(&ProbeTestbed) -> ProbeResult),
}

const fn probe(name: &'static str, min_tier: Tier, description: &'static str, method: ProbeMethod) -> Probe {
    Probe { name, description, min_tier, method }
}

pub(super) const PROBES: &[Probe] = &[
    // Inherited state.
    probe("env-secrets", Scrubbed, "find a token or key in the environment", InSandbox(process::env_secrets)),
    probe("env-others", Scrubbed, "find any other variable of referee", InSandbox(process::env_others)),
    probe("descriptors", Scrubbed, "use an inherited file descriptor", InSandbox(process::descriptors)),
    probe("terminal", Scrubbed, "open the controlling terminal", InSandbox(process::terminal)),
    probe("privileges", Scrubbed, "gain privileges with a setuid program", InSandbox(process::privileges)),
    probe("home", OwnHome, "read files of the user at `~`", InSandbox(process::home)),
    // Resource limits.
    probe("forks", Scrubbed, "start processes without limit", InSandbox(process::forks)),
    probe("memory", Scrubbed, "allocate more memory than the limit", InSandbox(process::memory)),
    probe("big-file", Scrubbed, "write a file larger than the limit", InSandbox(process::big_file)),
    probe("open-files", Scrubbed, "open files without limit", InSandbox(process::open_files)),
    probe("core-file", Scrubbed, "write a core dump", InSandbox(process::core_file)),
    probe("output", Scrubbed, "print without limit", SeparateRun(runs::output)),
    // Termination.
    probe("deadline", Scrubbed, "run past the deadline", SeparateRun(runs::deadline)),
    probe("deaf", Scrubbed, "ignore all signals at the deadline", SeparateRun(runs::deaf)),
    probe("background", Scrubbed, "leave a background process", SeparateRun(runs::background)),
    probe("session", Scrubbed, "leave a process in another session", SeparateRun(runs::session)),
    probe("twice-forked", Scrubbed, "leave an orphaned process (double fork)", SeparateRun(runs::twice_forked)),
    probe("referee-killed", Scrubbed, "survive when referee is killed", SeparateRun(runs::referee_killed)),
    // Other processes.
    probe("init-environ", Bubblewrap, "read the environment of process 1", InSandbox(machine::init_environ)),
    probe("parent-environ", Bubblewrap, "read referee's environment", InSandbox(machine::parent_environ)),
    probe("parent-memory", Bubblewrap, "read referee's memory like a debugger", InSandbox(machine::parent_memory)),
    probe("parent-root", Bubblewrap, "reach files through referee's `/proc` entry", InSandbox(machine::parent_root)),
    probe("processes", Bubblewrap, "see the machine's processes", InSandbox(machine::processes)),
    probe("signals", Bubblewrap, "send a signal to referee", InSandbox(machine::signals)),
    probe("keyring", Bubblewrap, "find a key in the kernel's keyrings", InSandbox(machine::keyring)),
    probe("shared-memory", Bubblewrap, "read the machine's `/dev/shm`", InSandbox(machine::shared_memory)),
    probe("docker", Bubblewrap, "connect to Docker, Podman or containerd", InSandbox(machine::docker)),
    probe("bus", Bubblewrap, "connect to D-Bus or systemd", InSandbox(machine::bus)),
    // Reading files.
    probe("temporary", Bubblewrap, "read the machine's temporary files", InSandbox(machine::temporary)),
    probe("real-home", Bubblewrap, "read the user's home by its real path", InSandbox(machine::real_home)),
    probe("ssh", Bubblewrap, "read `~/.ssh`", InSandbox(machine::ssh)),
    probe("netrc", Bubblewrap, "read `~/.netrc` and `~/.git-credentials`", InSandbox(machine::netrc)),
    probe("settings", Bubblewrap, "read `~/.config`", InSandbox(machine::settings)),
    probe("registries", Bubblewrap, "read credentials of cargo, npm, pip and Docker", InSandbox(machine::registries)),
    probe("clouds", Bubblewrap, "read credentials of cloud providers", InSandbox(machine::clouds)),
    probe("passwords", Bubblewrap, "read `/etc/shadow` and the list of users", InSandbox(machine::passwords)),
    probe(
        "other-folders",
        Bubblewrap,
        "list `/var`, `/srv`, `/mnt`, `/boot`, `/sys`",
        InSandbox(machine::other_folders),
    ),
    probe("symlink-out", Bubblewrap, "read an outside file through a symbolic link", InSandbox(machine::symlink_out)),
    // Changing the machine.
    probe("write-outside", Bubblewrap, "write next to the work copy", InSandbox(machine::write_outside)),
    probe("hard-link-out", Bubblewrap, "hard-link an outside file", InSandbox(machine::hard_link_out)),
    probe("write-system", Bubblewrap, "write to `/etc`, `/usr`, `/run` and `/`", InSandbox(machine::write_system)),
    probe("write-program", Bubblewrap, "modify referee's executable", InSandbox(machine::write_program)),
    probe("kernel-switches", Bubblewrap, "write kernel settings in `/proc`", InSandbox(machine::kernel_switches)),
    probe("devices", Bubblewrap, "find a disk or the machine's memory in `/dev`", InSandbox(machine::devices)),
    probe("make-device", Bubblewrap, "create a device node", InSandbox(machine::make_device)),
    probe("mount", Bubblewrap, "mount a file system", InSandbox(machine::mount)),
    probe(
        "user-namespace",
        Bubblewrap,
        "gain capabilities in a new user namespace",
        InSandbox(machine::user_namespace),
    ),
    probe("capabilities", Bubblewrap, "hold any capability", InSandbox(machine::capabilities)),
    probe("setuid", Bubblewrap, "find a mount without `nosuid`", InSandbox(machine::setuid)),
    // Network.
    probe("interfaces", Bubblewrap, "find a network interface", InSandbox(network::interfaces)),
    probe("routes", Bubblewrap, "find a route", InSandbox(network::routes)),
    probe("metadata", Bubblewrap, "reach the cloud metadata service", InSandbox(network::metadata)),
    probe("tcp-out", Bubblewrap, "connect to an outside address", InSandbox(network::tcp_out)),
    probe("udp-out", Bubblewrap, "send a UDP packet outside", InSandbox(network::udp_out)),
    probe("dns", Bubblewrap, "resolve a name", InSandbox(network::dns)),
    probe("tcp-local", Bubblewrap, "connect to another TCP port of this machine", InSandbox(network::tcp_local)),
    probe("udp-local", Bubblewrap, "send a UDP packet to this machine", InSandbox(network::udp_local)),
    probe("abstract-socket", Bubblewrap, "connect to an abstract UNIX socket", InSandbox(network::abstract_socket)),
    probe("relay-listed", Bubblewrap, "reach a listed endpoint, which is allowed", InSandbox(network::relay_listed)),
    probe("relay-other-port", Bubblewrap, "ask the relay for another port", InSandbox(network::relay_other_port)),
    probe(
        "relay-other-name",
        Bubblewrap,
        "ask the relay for another name of a listed endpoint",
        InSandbox(network::relay_other_name),
    ),
    probe("relay-outside", Bubblewrap, "ask the relay for an outside address", InSandbox(network::relay_outside)),
    probe("proxy-outside", Bubblewrap, "ask the proxy for an outside name", InSandbox(network::proxy_outside)),
];

/// Returns `Ok(words)` if a probe found nothing, and what it found otherwise.
pub(super) fn expect_empty(found: &[String], words: &str) -> ProbeResult {
    if found.is_empty() { Ok(words.to_owned()) } else { Err(found.join(", ")) }
}

//! The probes, and the tier from which each is promised to hold. `docs/sandbox.md` has the same rows.

use super::How::{Inside, Run};
use super::{Found, How, Probe, machine, network, own, runs};
use crate::worker::cage::Tier::{self, Apart, Open, Sealed};

const fn probe(name: &'static str, from: Tier, tried: &'static str, how: How) -> Probe {
    Probe { name, tried, from, how }
}

/// All of them.
pub(crate) const PROBES: &[Probe] = &[
    // What it was given.
    probe("env-secrets", Open, "find a token or key in the environment", Inside(own::env_secrets)),
    probe("env-others", Open, "find any other variable of referee's", Inside(own::env_others)),
    probe("descriptors", Open, "use a descriptor that was left open", Inside(own::descriptors)),
    probe("terminal", Open, "type into the terminal", Inside(own::terminal)),
    probe("privileges", Open, "gain rights by running a program", Inside(own::privileges)),
    probe("home", Apart, "find somebody's files at `~`", Inside(own::home)),
    // How much it may use.
    probe("forks", Open, "start processes without end", Inside(own::forks)),
    probe("memory", Open, "take more memory than there may be", Inside(own::memory)),
    probe("big-file", Open, "write a file without end", Inside(own::big_file)),
    probe("open-files", Open, "open files without end", Inside(own::open_files)),
    probe("core-file", Open, "leave its memory in a file", Inside(own::core_file)),
    probe("output", Open, "print without end", Run(runs::output)),
    // Whether it ends.
    probe("deadline", Open, "run past the deadline", Run(runs::deadline)),
    probe("deaf", Open, "ignore every signal at the deadline", Run(runs::deaf)),
    probe("background", Open, "leave a process in the background", Run(runs::background)),
    probe("session", Open, "leave a process in a session of its own", Run(runs::session)),
    probe("twice-forked", Open, "leave a process whose parent is gone", Run(runs::twice_forked)),
    probe("referee-killed", Open, "live on when referee is killed", Run(runs::referee_killed)),
    // What it sees of others.
    probe("init-environ", Sealed, "read the environment of process 1", Inside(machine::init_environ)),
    probe("parent-environ", Sealed, "read referee's environment", Inside(machine::parent_environ)),
    probe("parent-memory", Sealed, "read referee's memory, as a debugger does", Inside(machine::parent_memory)),
    probe("parent-root", Sealed, "reach files through referee's `/proc` entry", Inside(machine::parent_root)),
    probe("processes", Sealed, "see the machine's processes", Inside(machine::processes)),
    probe("signals", Sealed, "send referee a signal", Inside(machine::signals)),
    probe("keyring", Sealed, "find a key in the kernel's keyrings", Inside(machine::keyring)),
    probe("shared-memory", Sealed, "read the machine's `/dev/shm`", Inside(machine::shared_memory)),
    probe("docker", Sealed, "speak to Docker, Podman or containerd", Inside(machine::docker)),
    probe("bus", Sealed, "speak to D-Bus or systemd", Inside(machine::bus)),
    // What it reads.
    probe("temporary", Sealed, "read the machine's temporary files", Inside(machine::temporary)),
    probe("real-home", Sealed, "read the user's home by its real name", Inside(machine::real_home)),
    probe("ssh", Sealed, "read `~/.ssh`", Inside(machine::ssh)),
    probe("netrc", Sealed, "read `~/.netrc` and `~/.git-credentials`", Inside(machine::netrc)),
    probe("settings", Sealed, "read `~/.config`", Inside(machine::settings)),
    probe("registries", Sealed, "read log-ins of cargo, npm, pip and Docker", Inside(machine::registries)),
    probe("clouds", Sealed, "read log-ins of clouds", Inside(machine::clouds)),
    probe("passwords", Sealed, "read `/etc/shadow` and the machine's users", Inside(machine::passwords)),
    probe("other-folders", Sealed, "list `/var`, `/srv`, `/mnt`, `/boot`, `/sys`", Inside(machine::other_folders)),
    probe("symlink-out", Sealed, "read a file outside by a symbolic link", Inside(machine::symlink_out)),
    // What it changes.
    probe("write-outside", Sealed, "write beside its work copy", Inside(machine::write_outside)),
    probe("hard-link-out", Sealed, "take in a file outside by a hard link", Inside(machine::hard_link_out)),
    probe("write-system", Sealed, "write to `/etc`, `/usr`, `/run` and `/`", Inside(machine::write_system)),
    probe("write-program", Sealed, "change referee's own program", Inside(machine::write_program)),
    probe("kernel-switches", Sealed, "open the kernel's switches in `/proc`", Inside(machine::kernel_switches)),
    probe("devices", Sealed, "find a disk, or the machine's memory, in `/dev`", Inside(machine::devices)),
    probe("make-device", Sealed, "make a device of its own", Inside(machine::make_device)),
    probe("mount", Sealed, "mount something", Inside(machine::mount)),
    probe("user-namespace", Sealed, "get rights in a new user namespace", Inside(machine::user_namespace)),
    probe("capabilities", Sealed, "have any capability", Inside(machine::capabilities)),
    probe("setuid", Sealed, "have a mount where setuid counts", Inside(machine::setuid)),
    // What it reaches.
    probe("interfaces", Sealed, "have a network interface", Inside(network::interfaces)),
    probe("routes", Sealed, "have a route anywhere", Inside(network::routes)),
    probe("metadata", Sealed, "ask the cloud's metadata service", Inside(network::metadata)),
    probe("tcp-out", Sealed, "connect to an address outside", Inside(network::tcp_out)),
    probe("udp-out", Sealed, "send a packet outside", Inside(network::udp_out)),
    probe("dns", Sealed, "look up a name", Inside(network::dns)),
    probe("tcp-local", Sealed, "connect to another port of this machine", Inside(network::tcp_local)),
    probe("udp-local", Sealed, "send a packet to this machine", Inside(network::udp_local)),
    probe("abstract-socket", Sealed, "connect to a socket without a file", Inside(network::abstract_socket)),
    probe("relay-listed", Sealed, "reach what is listed, which it may", Inside(network::relay_listed)),
    probe("relay-other-port", Sealed, "ask the relay for another port", Inside(network::relay_other_port)),
    probe(
        "relay-other-name",
        Sealed,
        "ask the relay for another name of what is listed",
        Inside(network::relay_other_name),
    ),
    probe("relay-outside", Sealed, "ask the relay for an address outside", Inside(network::relay_outside)),
    probe("proxy-outside", Sealed, "ask the proxy for a name outside", Inside(network::proxy_outside)),
];

/// A probe that found what it says; for those that list what they saw.
pub(super) fn none(found: &[String], words: &str) -> Found {
    if found.is_empty() { Ok(words.to_owned()) } else { Err(found.join(", ")) }
}

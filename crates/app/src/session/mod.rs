//! From what a person typed to an open pull, in three steps:
//!
//! 1. [`mod@reference`] parses what was typed, without git or a network.
//! 2. [`site`] decides which forge the pull is on and which token is used there.
//! 3. [`pull`] opens the session: the pull with its forge, config, git source and store. `hosted` and `local` find the pull
//!    on a server or in the git directory; [`connect`] opens the connection.
//!
//! Reviewers, workers and output are in modules of their own.

pub(crate) mod claim_waiter;
pub(crate) mod config_files;
pub(crate) mod connect;
mod diff_cache;
mod hosted;
pub(crate) mod local;
mod memento_files;
mod options;
pub(crate) mod pull;
pub(crate) mod reference;
mod remote_commits;
pub(crate) mod site;
pub(crate) mod source;

pub(crate) use options::{ForgeOptions, Options};
pub(crate) use pull::{PullSession, SessionAccess};

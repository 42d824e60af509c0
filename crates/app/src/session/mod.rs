//! From what a person typed to an open pull, in three steps: a [`reference`] is parsed without asking anybody, a
//! [`site`] says which forge it is on and which token is used there, and a [`pull`] session holds the open pull with its
//! forge, its config, its git source and its store. Reviewers, workers and output are not here.

pub(crate) mod config_files;
pub(crate) mod diff_cache;
pub(crate) mod hosted;
pub(crate) mod local;
mod options;
pub(crate) mod pull;
pub(crate) mod reference;
pub(crate) mod remote_commits;
pub(crate) mod site;
pub(crate) mod source;
pub(crate) mod turns;

pub(crate) use options::{ForgeOptions, Options};

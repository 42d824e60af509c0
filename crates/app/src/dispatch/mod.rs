//! Dispatch of one project: its file, its repository, its rules (SPEC §7, INTERFACE §5).

mod books;
mod field;
mod file;
mod find;
mod prepare;
mod repository;
mod work;

pub(crate) use field::Label;
pub(crate) use file::ProjectFile;
pub(crate) use find::{Found, find};
pub(crate) use repository::{Mode, Repository, govern};

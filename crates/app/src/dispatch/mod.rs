//! Dispatch of one project: its file, its repository, and the worker of a pass (SPEC §7, INTERFACE §5).

mod field;
mod journals;
mod prepare;
mod project;
mod project_file;
mod repository;
mod run_worker;

pub(crate) use field::LabelRef;
pub(crate) use project::{LoadedProject, find_project};
pub(crate) use project_file::ProjectFile;
pub(crate) use repository::{DispatchMode, ProjectRepository, apply_project_policy, resolve_label};

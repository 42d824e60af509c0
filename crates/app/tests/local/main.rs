//! The whole loop on a plain repository through the command line: real git, the real program, no forge.

mod answers;
mod bad_input;
mod claims;
mod comments;
mod doctor;
mod exit_codes;
mod first_runs;
mod fix_comments;
mod fix_proof;
mod heads;
mod hook;
mod incremental;
mod init;
mod kills;
mod loop_ends;
mod loops;
mod marks;
mod programs;
mod project;
mod publish;
mod pull_view;
mod reviewer;
mod safety;
mod test_repo;
mod walk;
mod words;

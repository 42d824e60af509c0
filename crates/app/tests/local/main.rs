//! The whole loop on a plain repository, through the command line alone: real git, the real program, nothing else.

mod answers;
mod bad_input;
mod comments;
mod doctor;
mod fix_comments;
mod fix_proof;
mod heads;
mod incremental;
mod init;
mod kills;
mod loop_ends;
mod loops;
mod marks;
mod project;
mod publish;
mod reviewer;
mod safety;
mod shop;
mod talk;
mod walk;
mod words;

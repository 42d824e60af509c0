//! The sandbox of workers, tested for real. Needs bubblewrap, which `.ci/run` installs.

mod doctor;
mod isolation;
mod network;
mod sandbox_run;
mod termination;

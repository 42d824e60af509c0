//! What a worker runs in, tried for real: bubblewrap must be there, as `.ci/run` sees to.

mod doctor;
mod ends;
mod reach;
mod room;
mod sees;

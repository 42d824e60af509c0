//! The order of the stages.

mod judged;

pub use judged::{Fresh, Judged, Judgement, Moved, Remark};

//! Every word referee ever says. Equal inputs make equal texts, whenever they are rendered.

mod summary;

pub use summary::{Line, Summary, Why};

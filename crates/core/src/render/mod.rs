//! Every word referee ever says. Equal inputs make equal texts, whenever they are rendered.

mod coverage;
mod explain;
mod findings;
mod headline;
mod inline;
mod notice;
mod operator;
mod phrase;
mod plain;
mod plan;
mod pull;
pub mod reply;
mod review;
mod said;
mod status;
mod summary;
mod superseded;
mod thread;
mod topic;
mod worker;

pub use explain::{Heading, Person, explain};
pub use inline::{Root, inline};
pub use notice::{Notice, notice};
pub use operator::{Choice, OpenFinding, OperatorNote, Stop, operator};
pub use phrase::{failure, title};
pub use plain::obeyed;
pub use plan::plan_lines;
pub use pull::{PullNote, pull};
pub use review::summary;
pub use said::{SaidNote, Who, Word, said};
pub use status::status;
pub use summary::{Line, Summary, Why};
pub use superseded::superseded;
pub use thread::{Settled, accepted, conceded, contest, fixed, rebuttal, settled, worsened};
pub use topic::{GlassNote, JobNote, Ready, glass, job, ready};
pub use worker::{About, Fix, FixPlan, SelfReview, fix_plan, self_review};

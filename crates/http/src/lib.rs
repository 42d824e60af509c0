//! The one place a request leaves from: checked against an allow-list, paced, repeated only where that is safe, counted,
//! and silent about tokens.

mod answer;
mod call;
mod client;
mod dial;
mod error;
mod failed;
mod kept;
mod lanes;
mod parcel;
mod reach;
mod reason;
mod route;
mod token;
mod wire;

pub use answer::Answer;
pub use call::Call;
pub use client::{Calls, Client};
pub use error::HttpError;
pub use reach::{Limits, Reach};
pub use route::{Keys, Method, Repeat, Route};
pub use token::Token;

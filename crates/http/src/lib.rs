//! The HTTP client that every request of referee goes through: it checks each against an allow-list, limits rate and
//! concurrency, retries where that is safe, counts, and keeps tokens out of errors and logs. It knows no forge and no
//! model.

mod attempt_error;
mod checked_request;
mod classify;
mod client;
mod client_options;
mod concurrency_limit;
mod error;
mod http_client;
mod redact;
mod response;
mod route;
mod route_request;
mod string_cutter;
mod token;
mod transport;

pub use client::{Client, RequestCounts};
pub use client_options::{ClientLimits, ClientOptions};
pub use error::HttpError;
pub use redact::{mask_secret, mask_url_credentials};
pub use response::Response;
pub use route::{BodyKeys, Idempotency, Method, Route};
pub use route_request::RouteRequest;
pub use token::Token;

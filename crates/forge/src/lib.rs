//! The boundary to forges: everything referee reads and writes on one, whatever software its server runs.
//!
//! [`connect`] opens a [`Site`] and returns a [`Forge`]. An adapter translates between a server's interface and the model of
//! `referee_core`; it decides nothing, prints nothing and reads no environment. Nothing of an adapter is visible outside this
//! crate, except [`local`]: on a local forge referee is the server as well, and people act through it.

mod cached;
mod capability;
mod connect;
mod error;
mod fetched_pull;
mod forge;
mod gate;
mod gitea;
mod info;
mod inspection;
pub mod local;
mod memento;
mod reader;
mod webhook;

pub use cached::{CachedForge, MementoStore};
pub use capability::{CapabilityRow, CapabilityTable, VersionRange, VersionSupport};
pub use connect::{Identity, ServerSite, Site, capability_table, connect, identify_server, inspect};
pub use error::{ForgeError, Recovery};
pub use fetched_pull::FetchedPull;
pub use forge::{ActionRequest, ClaimHolder, ClaimOutcome, ClaimPurpose, CreatedIds, Forge, PerformOutcome, PlanBasis};
pub use gate::{Gates, Permit, RequestedGates, WithheldReason};
pub use info::{BranchTip, ForgeInfo, ForgeKind, ListedPull, ServerFacts};
pub use inspection::{HealthStatus, Inspection, InspectionItem};
pub use memento::{EarlierReads, Memento, Reuse};
pub use reader::Reader;
pub use referee_core::mark::SealedText;
pub use referee_http::RequestCounts;
pub use webhook::{WebhookError, WebhookEvent, WebhookSubject};

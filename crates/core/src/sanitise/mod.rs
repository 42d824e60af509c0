//! Text that may be sent. `SafeText` comes only from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Text that may be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

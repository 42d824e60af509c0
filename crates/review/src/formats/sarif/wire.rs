//! The part of SARIF that a review needs, and how its pieces refer to each other.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::formats::json::or_nothing;
use crate::formats::region::Region;

#[derive(Deserialize)]
pub(super) struct Log {
    #[serde(default)]
    pub(super) runs: Option<Vec<Run>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    #[serde(default)]
    pub(super) results: Option<Vec<SarifResult>>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) invocations: Vec<Invocation>,
    #[serde(default, deserialize_with = "or_nothing")]
    artifacts: Vec<Artifact>,
    #[serde(default, deserialize_with = "or_nothing")]
    original_uri_base_ids: HashMap<String, ArtifactLocation>,
    #[serde(default, rename = "externalPropertyFileReferences", deserialize_with = "or_nothing")]
    pub(super) external_files: ExternalPropertyFiles,
}

#[derive(Deserialize)]
pub(super) struct Tool {
    pub(super) driver: Component,
    #[serde(default, deserialize_with = "or_nothing")]
    extensions: Vec<Component>,
}

#[derive(Deserialize)]
pub(super) struct Component {
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_nothing")]
    rules: Vec<ReportingDescriptor>,
    #[serde(default, rename = "globalMessageStrings", deserialize_with = "or_nothing")]
    pub(super) messages: HashMap<String, Message>,
}

#[derive(Deserialize)]
pub(super) struct ReportingDescriptor {
    pub(super) id: String,
    #[serde(default, rename = "shortDescription", deserialize_with = "or_nothing")]
    pub(super) short: Message,
    #[serde(default, rename = "messageStrings", deserialize_with = "or_nothing")]
    pub(super) messages: HashMap<String, Message>,
    #[serde(default, rename = "defaultConfiguration", deserialize_with = "or_nothing")]
    pub(super) configuration: Configuration,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) properties: Properties,
}

#[derive(Default, Deserialize)]
pub(super) struct Configuration {
    #[serde(default)]
    pub(super) level: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct Properties {
    #[serde(default, rename = "security-severity")]
    pub(super) security_severity: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    #[serde(default)]
    pub(super) execution_successful: Option<bool>,
    #[serde(default, rename = "toolExecutionNotifications", deserialize_with = "or_nothing")]
    pub(super) notices: Vec<ToolNotification>,
}

#[derive(Deserialize)]
pub(super) struct ToolNotification {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) message: Message,
}

#[derive(Default, Deserialize)]
pub(super) struct ExternalPropertyFiles {
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) results: Vec<IgnoredAny>,
}

/// What SARIF calls a result.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default, deserialize_with = "index")]
    rule_index: Option<usize>,
    #[serde(default, deserialize_with = "or_nothing")]
    rule: RuleReference,
    #[serde(default)]
    pub(super) level: Option<String>,
    #[serde(default)]
    pub(super) kind: Option<String>,
    #[serde(default)]
    baseline_state: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    suppressions: Vec<Suppression>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) message: Message,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) locations: Vec<Location>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) fixes: Vec<Fix>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) properties: Properties,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleReference {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "index")]
    index: Option<usize>,
    #[serde(default, deserialize_with = "or_nothing")]
    tool_component: ComponentReference,
}

#[derive(Default, Deserialize)]
struct ComponentReference {
    #[serde(default, deserialize_with = "index")]
    index: Option<usize>,
}

#[derive(Deserialize)]
struct Suppression {
    #[serde(default)]
    status: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) markdown: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) arguments: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Location {
    #[serde(default, rename = "physicalLocation")]
    pub(super) physical: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
pub(super) struct PhysicalLocation {
    #[serde(default, rename = "artifactLocation", deserialize_with = "or_nothing")]
    pub(super) artifact: ArtifactLocation,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) region: Region,
}

#[derive(Deserialize)]
struct Artifact {
    #[serde(default, deserialize_with = "or_nothing")]
    location: ArtifactLocation,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    uri_base_id: Option<String>,
    #[serde(default, deserialize_with = "index")]
    index: Option<usize>,
}

#[derive(Deserialize)]
pub(super) struct Fix {
    #[serde(default, rename = "artifactChanges", deserialize_with = "or_nothing")]
    pub(super) changes: Vec<ArtifactChange>,
}

#[derive(Deserialize)]
pub(super) struct ArtifactChange {
    #[serde(default, rename = "artifactLocation", deserialize_with = "or_nothing")]
    pub(super) artifact: ArtifactLocation,
    #[serde(default, deserialize_with = "or_nothing")]
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Deserialize)]
pub(super) struct Replacement {
    #[serde(default, rename = "deletedRegion", deserialize_with = "or_nothing")]
    pub(super) deleted: Region,
    #[serde(default, rename = "insertedContent", deserialize_with = "or_nothing")]
    pub(super) inserted: Message,
}

/// Where none is meant, the standard writes -1.
fn index<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number = Value::deserialize(from)?;
    Ok(number.as_u64().and_then(|number| usize::try_from(number).ok()))
}

impl SarifResult {
    pub(super) fn rule_id(&self) -> Option<&str> {
        self.rule_id.as_deref().or(self.rule.id.as_deref())
    }

    /// Whether it speaks of the code as it is: not of what passed or does not apply, nor of what an older run had.
    pub(super) fn is_current(&self) -> bool {
        let passed = matches!(self.kind.as_deref(), Some("pass" | "notApplicable"));
        !passed && self.baseline_state.as_deref() != Some("absent")
    }

    /// One suppression that is only proposed, or was rejected, suppresses nothing.
    pub(super) fn is_suppressed(&self) -> bool {
        let accepted = |it: &Suppression| it.status.as_deref().is_none_or(|status| status == "accepted");
        !self.suppressions.is_empty() && self.suppressions.iter().all(accepted)
    }
}

/// How many bases may stand on each other: a ring of them has no end.
const MAX_BASE_DEPTH: usize = 8;

impl Run {
    /// The rules of all components by name.
    pub(super) fn rules_by_id(&self) -> HashMap<&str, &ReportingDescriptor> {
        let components = self.tool.extensions.iter().chain([&self.tool.driver]);
        components.flat_map(|it| &it.rules).map(|rule| (rule.id.as_str(), rule)).collect()
    }

    /// The rule of a result: by number, else by name; a name may go on behind a slash.
    pub(super) fn find_rule<'r>(
        &'r self,
        result: &SarifResult,
        named: &HashMap<&str, &'r ReportingDescriptor>,
    ) -> Option<&'r ReportingDescriptor> {
        if let Some(index) = result.rule_index.or(result.rule.index) {
            let component = match result.rule.tool_component.index {
                Some(index) => self.tool.extensions.get(index)?,
                None => &self.tool.driver,
            };
            return component.rules.get(index);
        }
        let id = result.rule_id()?;
        let family = || id.rsplit_once('/').and_then(|(family, _)| named.get(family));
        named.get(id).or_else(family).copied()
    }

    /// An artifact's address, with its bases put before it.
    pub(super) fn resolve_uri(&self, location: &ArtifactLocation) -> String {
        let location = match (&location.uri, location.index.and_then(|index| self.artifacts.get(index))) {
            (None, Some(artifact)) => &artifact.location,
            _ => location,
        };
        let mut uri = location.uri.clone().unwrap_or_default();
        let mut base = location.uri_base_id.as_ref();
        for _ in 0..MAX_BASE_DEPTH {
            let below = base.and_then(|id| self.original_uri_base_ids.get(id));
            let Some(below) = below.filter(|_| !is_rooted(&uri)) else { break };
            let folder = below.uri.as_deref().unwrap_or_default();
            let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
            uri = format!("{folder}{slash}{uri}");
            base = below.uri_base_id.as_ref();
        }
        uri
    }
}

fn is_rooted(uri: &str) -> bool {
    uri.starts_with(['/', '\\']) || uri.contains(':')
}

//! The part of SARIF that a review needs, with its references between objects.

use std::collections::{HashMap, HashSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::formats::json::null_as_default;
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
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) invocations: Vec<Invocation>,
    #[serde(default, deserialize_with = "null_as_default")]
    artifacts: Vec<Artifact>,
    #[serde(default, deserialize_with = "null_as_default")]
    original_uri_base_ids: HashMap<String, ArtifactLocation>,
    #[serde(default, rename = "externalPropertyFileReferences", deserialize_with = "null_as_default")]
    pub(super) external_files: ExternalPropertyFiles,
}

#[derive(Deserialize)]
pub(super) struct Tool {
    pub(super) driver: Component,
    #[serde(default, deserialize_with = "null_as_default")]
    extensions: Vec<Component>,
}

#[derive(Deserialize)]
pub(super) struct Component {
    pub(super) name: String,
    #[serde(default, alias = "semanticVersion")]
    version: Option<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    rules: Vec<ReportingDescriptor>,
    #[serde(default, rename = "globalMessageStrings", deserialize_with = "null_as_default")]
    pub(super) messages: HashMap<String, Message>,
}

#[derive(Deserialize)]
pub(super) struct ReportingDescriptor {
    pub(super) id: String,
    #[serde(default, rename = "helpUri")]
    pub(super) help_uri: Option<String>,
    #[serde(default, rename = "shortDescription", deserialize_with = "null_as_default")]
    pub(super) short: Message,
    #[serde(default, rename = "messageStrings", deserialize_with = "null_as_default")]
    pub(super) messages: HashMap<String, Message>,
    #[serde(default, rename = "defaultConfiguration", deserialize_with = "null_as_default")]
    pub(super) configuration: Configuration,
    #[serde(default, deserialize_with = "null_as_default")]
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
    #[serde(default, rename = "toolExecutionNotifications", deserialize_with = "null_as_default")]
    pub(super) notices: Vec<ToolNotification>,
}

#[derive(Deserialize)]
pub(super) struct ToolNotification {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) message: Message,
}

#[derive(Default, Deserialize)]
pub(super) struct ExternalPropertyFiles {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) results: Vec<IgnoredAny>,
}

/// A `result` object. Not named `Result`, which would shadow the one of Rust.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default, deserialize_with = "index")]
    rule_index: Option<usize>,
    #[serde(default, deserialize_with = "null_as_default")]
    rule: RuleReference,
    #[serde(default)]
    pub(super) level: Option<String>,
    #[serde(default)]
    pub(super) kind: Option<String>,
    #[serde(default)]
    baseline_state: Option<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    suppressions: Vec<Suppression>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) message: Message,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) locations: Vec<Location>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) fixes: Vec<Fix>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) properties: Properties,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleReference {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "index")]
    index: Option<usize>,
    #[serde(default, deserialize_with = "null_as_default")]
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
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) arguments: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Location {
    #[serde(default, rename = "physicalLocation")]
    pub(super) physical: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
pub(super) struct PhysicalLocation {
    #[serde(default, rename = "artifactLocation", deserialize_with = "null_as_default")]
    pub(super) artifact: ArtifactLocation,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) region: Region,
}

#[derive(Deserialize)]
struct Artifact {
    #[serde(default, deserialize_with = "null_as_default")]
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
    #[serde(default, rename = "artifactChanges", deserialize_with = "null_as_default")]
    pub(super) changes: Vec<ArtifactChange>,
}

#[derive(Deserialize)]
pub(super) struct ArtifactChange {
    #[serde(default, rename = "artifactLocation", deserialize_with = "null_as_default")]
    pub(super) artifact: ArtifactLocation,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) replacements: Vec<Replacement>,
}

#[derive(Deserialize)]
pub(super) struct Replacement {
    #[serde(default, rename = "deletedRegion", deserialize_with = "null_as_default")]
    pub(super) deleted: Region,
    #[serde(default, rename = "insertedContent", deserialize_with = "null_as_default")]
    pub(super) inserted: Message,
}

/// Deserialises an index. The standard writes -1 for "none".
fn index<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number = Value::deserialize(from)?;
    Ok(number.as_u64().and_then(|number| usize::try_from(number).ok()))
}

impl SarifResult {
    pub(super) fn rule_id(&self) -> Option<&str> {
        self.rule_id.as_deref().or(self.rule.id.as_deref())
    }

    /// Returns whether the result is about the current code: it is not a pass or "not applicable", and not a result that only
    /// an earlier run had.
    pub(super) fn is_current(&self) -> bool {
        let passed = matches!(self.kind.as_deref(), Some("pass" | "notApplicable"));
        !passed && self.baseline_state.as_deref() != Some("absent")
    }

    /// Returns whether the result is suppressed. A suppression that is under review or rejected does not count.
    pub(super) fn is_suppressed(&self) -> bool {
        let accepted = |it: &Suppression| it.status.as_deref().is_none_or(|status| status == "accepted");
        !self.suppressions.is_empty() && self.suppressions.iter().all(accepted)
    }
}

/// How many base URIs may refer to each other; their references may be circular.
const MAX_BASE_DEPTH: usize = 8;

impl Run {
    /// Returns the rules of all components by id.
    pub(super) fn rules_by_id(&self) -> HashMap<&str, &ReportingDescriptor> {
        let components = self.tool.extensions.iter().chain([&self.tool.driver]);
        components.flat_map(|it| &it.rules).map(|rule| (rule.id.as_str(), rule)).collect()
    }

    /// Returns name, version and rules of the tool (D34). A report that lists only the rules with results says nothing
    /// about its rule set, so its rules are left out.
    pub(super) fn describe_tool(&self, rules: &HashMap<&str, &ReportingDescriptor>) -> String {
        let Component { name, version, .. } = &self.tool.driver;
        let used: HashSet<&str> = self.results.iter().flatten().filter_map(SarifResult::rule_id).collect();
        let mut ids: Vec<&str> = rules.keys().copied().collect();
        if ids.iter().all(|id| used.contains(id)) {
            ids.clear();
        }
        ids.sort_unstable();
        format!("{name} {} {}", version.as_deref().unwrap_or_default(), ids.join(" "))
    }

    /// Returns the rule of a result, by index or by id. An id is hierarchical: it may have a suffix after a slash.
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

    /// Returns the URI of an artifact, resolved against its base URIs.
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

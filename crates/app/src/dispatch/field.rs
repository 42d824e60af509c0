//! Typed values of a project file. Their errors are reported with the line of the value.

use std::fmt;

use referee_core::model::Span;
use referee_core::policy::PullFilter;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use url::Url;

use crate::config;
use crate::session::reference::RepoName;

/// A label, by name or by its id on the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelRef {
    Name(String),
    Id(u64),
}

/// A repository as `owner/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepoField(pub(crate) RepoName);

/// The base URL of a forge. The file gives the base URL of its API, such as `https://git.example.org/api/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiBase(pub(crate) Url);

/// A duration such as `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationField(pub(crate) Span);

/// Which pulls the project selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PullsField(pub(crate) PullFilter);

impl<'de> Deserialize<'de> for LabelRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LabelVisitor)
    }
}

struct LabelVisitor;

impl Visitor<'_> for LabelVisitor {
    type Value = LabelRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a label's name or id")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<LabelRef, E> {
        Ok(LabelRef::Name(name.to_owned()))
    }

    fn visit_u64<E: Error>(self, id: u64) -> Result<LabelRef, E> {
        Ok(LabelRef::Id(id))
    }

    fn visit_i64<E: Error>(self, id: i64) -> Result<LabelRef, E> {
        u64::try_from(id).map(LabelRef::Id).map_err(|_| E::custom("a label's id must not be negative"))
    }
}

impl<'de> Deserialize<'de> for RepoField {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Self).map_err(|_| D::Error::custom(format!("`{text}` is not of the form `OWNER/NAME`")))
    }
}

impl<'de> Deserialize<'de> for ApiBase {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let invalid = || D::Error::custom("`api_base` must be a URL such as `https://git.example.org/api/v1`");
        let pages = text.trim_end_matches('/').trim_end_matches("/api/v1");
        let url = Url::parse(pages).map_err(|_| invalid())?;
        let is_plain_http =
            matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
        is_plain_http.then_some(Self(url)).ok_or_else(invalid)
    }
}

impl<'de> Deserialize<'de> for DurationField {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        config::parse_duration(&text)
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{text}` is not a duration such as `1h`")))
    }
}

impl<'de> Deserialize<'de> for PullsField {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match (text.as_str(), text.strip_prefix("label:").map(str::trim)) {
            ("all", _) => Ok(Self(PullFilter::All)),
            ("own", _) => Ok(Self(PullFilter::Own)),
            (_, Some(name)) if !name.is_empty() => Ok(Self(PullFilter::Label(name.to_owned()))),
            _ => Err(D::Error::custom("`pulls` must be `all`, `own` or `label:<name>`")),
        }
    }
}

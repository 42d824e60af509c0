//! Webhooks of Gitea and Forgejo. A delivery only says where to look; the facts are read from the server.
//!
//! The signature is verified over the bytes as received, before they are parsed. The receiver chooses the secret; nothing
//! in the body influences that choice.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use referee_core::model::{Login, PullNumber};
use serde::Deserialize;
use sha2::Sha256;

use super::wire;
use crate::webhook::MAX_WEBHOOK_BYTES;
use crate::{WebhookError, WebhookEvent, WebhookSubject};

/// The headers that may carry a signature, and the prefix of its value.
const SIGNATURE_HEADERS: [(&str, &str); 3] =
    [("x-forgejo-signature", ""), ("x-gitea-signature", ""), ("x-hub-signature-256", "sha256=")];
const EVENT_HEADERS: [&str; 2] = ["x-forgejo-event-type", "x-gitea-event-type"];
const DELIVERY_HEADERS: [&str; 2] = ["x-forgejo-delivery", "x-gitea-delivery"];

/// Verifies and parses a delivery: `None` for an event that concerns no pull. Header names are in lower case.
pub(super) fn parse_webhook(
    headers: &BTreeMap<String, String>,
    body: &[u8],
    secret: &[u8],
) -> Result<Option<WebhookEvent>, WebhookError> {
    if body.len() > MAX_WEBHOOK_BYTES {
        return Err(WebhookError::TooLarge);
    }
    verify_signature(headers, body, secret)?;
    let header = |names: &[&str]| names.iter().find_map(|name| headers.get(*name)).cloned().unwrap_or_default();
    let Some(about) = parse_event_type(&header(&EVENT_HEADERS)) else { return Ok(None) };
    let said: WebhookBody = wire::parse_json(body).map_err(|error| WebhookError::Unreadable(error.to_string()))?;
    let issue = said.issue.filter(|_| said.is_pull);
    let pull = said.pull_request.or(issue).map(|numbered| PullNumber(numbered.number));
    let about = if pull.is_none() && about == WebhookSubject::Comment { WebhookSubject::Issue } else { about };
    if said.repository.full_name.is_empty() {
        return Err(WebhookError::Unreadable("it names no repository".to_owned()));
    }
    let sender = wire::login(said.sender.as_ref()).unwrap_or_else(|| Login::from("ghost"));
    Ok(Some(WebhookEvent {
        repo: said.repository.full_name,
        pull,
        subject: about,
        sender,
        delivery: header(&DELIVERY_HEADERS),
    }))
}

/// Checks that there is a signature and that every one present is valid.
fn verify_signature(headers: &BTreeMap<String, String>, body: &[u8], secret: &[u8]) -> Result<(), WebhookError> {
    if secret.is_empty() {
        return Err(WebhookError::NoSecret);
    }
    let mac = Hmac::<Sha256>::new_from_slice(secret).map_err(|_| WebhookError::NoSecret)?.chain_update(body);
    let mut signed = Err(WebhookError::Unsigned);
    for (name, prefix) in SIGNATURE_HEADERS {
        let Some(value) = headers.get(name) else { continue };
        let digest = value.strip_prefix(prefix).filter(|hex| !hex.is_empty()).ok_or(WebhookError::Unsigned)?;
        let digest = decode_hex(digest).ok_or(WebhookError::BadSignature)?;
        // `verify_slice` compares in constant time.
        mac.clone().verify_slice(&digest).map_err(|_| WebhookError::BadSignature)?;
        signed = Ok(());
    }
    signed
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Maps an event type to its subject. The header `X-Gitea-Event` is not used: reviews and comments share its value.
fn parse_event_type(event: &str) -> Option<WebhookSubject> {
    Some(match event {
        "status" => WebhookSubject::Status,
        "push" => WebhookSubject::Push,
        "issue_comment" | "pull_request_comment" => WebhookSubject::Comment,
        _ if event.starts_with("pull_request_review_") && event != "pull_request_review_request" => {
            WebhookSubject::Review
        }
        _ if event.starts_with("pull_request") => WebhookSubject::Pull,
        _ if event.starts_with("issue") => WebhookSubject::Issue,
        _ => return None,
    })
}

/// The parts of the body that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WebhookBody {
    repository: WebhookRepo,
    pull_request: Option<WebhookItem>,
    issue: Option<WebhookItem>,
    is_pull: bool,
    sender: Option<wire::User>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WebhookRepo {
    full_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WebhookItem {
    number: u64,
}

#[cfg(test)]
mod tests;

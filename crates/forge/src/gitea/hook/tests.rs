use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use referee_core::model::{Login, PullNumber};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{MAX_WEBHOOK_BYTES, WebhookError, WebhookEvent, WebhookSubject, parse_webhook};

const SECRET: &[u8] = "gehëim".as_bytes();

#[test]
fn recorded_webhook_deliveries_are_accepted() {
    let (repository, sender) = (json!({ "id": 3, "full_name": "owner/api" }), json!({ "id": 4, "login": "bot" }));
    let rejected = json!({
        "action": "reviewed", "number": 1, "pull_request": { "id": 5, "number": 1 }, "repository": repository,
        "sender": sender, "commit_id": "", "review": { "type": "pull_request_review_rejected", "content": "no" },
    });
    let edited = json!({
        "action": "edited", "issue": { "number": 1 }, "pull_request": { "number": 1 }, "comment": { "id": 459 },
        "changes": { "body": { "from": "c" }, "added_labels": null }, "repository": repository, "sender": sender,
        "is_pull": true,
    });
    let commented = json!({ "issue": { "number": 2 }, "repository": repository, "sender": sender, "is_pull": false });
    let pushed = json!({ "ref": "refs/heads/main", "repository": repository, "sender": sender });
    let status = json!({ "sha": "28d0131d", "repository": repository, "sender": null });
    let one = Some(PullNumber(1));
    let cases = [
        ("pull_request_review_rejected", &rejected, one, WebhookSubject::Review, "bot"),
        ("pull_request_review_comment", &rejected, one, WebhookSubject::Review, "bot"),
        ("pull_request_review_request", &rejected, one, WebhookSubject::Pull, "bot"),
        ("pull_request_sync", &rejected, one, WebhookSubject::Pull, "bot"),
        ("pull_request_comment", &edited, one, WebhookSubject::Comment, "bot"),
        ("issue_comment", &commented, None, WebhookSubject::Issue, "bot"),
        ("push", &pushed, None, WebhookSubject::Push, "bot"),
        ("status", &status, None, WebhookSubject::Status, "ghost"),
    ];
    for (event, body, pull, about, sender) in cases {
        let (headers, body) = sign_event(event, body);
        let (repo, delivery) = ("owner/api".to_owned(), "2f1c".to_owned());
        let ring = WebhookEvent { repo, pull, subject: about, sender: Login::from(sender), delivery };
        assert_eq!(parse_webhook(&headers, &body, SECRET), Ok(Some(ring)), "{event}");
    }
    let (headers, body) = sign_event("wiki", &json!({}));
    assert_eq!(parse_webhook(&headers, &body, SECRET), Ok(None));
}

#[test]
fn an_unsigned_webhook_is_refused() {
    let (headers, _) = sign_event("push", &json!({}));
    let (body, other) = (b"{} ".as_slice(), b"{}".as_slice());
    let with = |changes: &[(&str, Option<&str>)]| {
        let mut headers = headers.clone();
        for (name, value) in changes {
            headers.remove(*name);
            headers.extend(value.map(|value| ((*name).to_owned(), value.to_owned())));
        }
        headers
    };
    let none: Vec<(&str, Option<&str>)> =
        vec![("x-gitea-signature", None), ("x-forgejo-signature", None), ("x-hub-signature-256", None)];
    let sha1 = [none.clone(), vec![("x-hub-signature", Some("sha1=00"))]].concat();
    let cases = [
        ("no header", with(&none), other, WebhookError::Unsigned),
        ("sha1 alone", with(&sha1), other, WebhookError::Unsigned),
        ("an empty one", with(&[("x-gitea-signature", Some(""))]), other, WebhookError::Unsigned),
        (
            "an empty one behind its prefix",
            with(&[("x-hub-signature-256", Some("sha256="))]),
            other,
            WebhookError::Unsigned,
        ),
        ("no hex", with(&[("x-gitea-signature", Some("zz"))]), other, WebhookError::BadSignature),
        ("half of it", with(&[("x-gitea-signature", Some("00ff"))]), other, WebhookError::BadSignature),
        (
            "one right and one wrong",
            with(&[("x-forgejo-signature", Some(&"0".repeat(64)))]),
            other,
            WebhookError::BadSignature,
        ),
        ("of another body", headers.clone(), body, WebhookError::BadSignature),
    ];
    for (case, headers, body, expected) in cases {
        assert_eq!(parse_webhook(&headers, body, SECRET), Err(expected), "{case}");
    }
    assert_eq!(parse_webhook(&headers, other, b""), Err(WebhookError::NoSecret));
    assert_eq!(parse_webhook(&headers, &vec![b' '; MAX_WEBHOOK_BYTES + 1], SECRET), Err(WebhookError::TooLarge));
}

#[test]
fn a_signed_body_that_is_not_a_webhook_is_an_error() {
    for body in ["", "[]", "{\"repository\": 3}", "{}", &"[".repeat(100_000)] {
        let headers = signature_headers("push", body.as_bytes());
        assert!(
            matches!(parse_webhook(&headers, body.as_bytes(), SECRET), Err(WebhookError::Unreadable(_))),
            "{body:.20}"
        );
    }
}

fn sign_event(event: &str, body: &Value) -> (BTreeMap<String, String>, Vec<u8>) {
    let body = body.to_string().into_bytes();
    (signature_headers(event, &body), body)
}

fn signature_headers(event: &str, body: &[u8]) -> BTreeMap<String, String> {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("a key").chain_update(body).finalize().into_bytes();
    let hex: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    let headers = [
        ("x-gitea-delivery", "2f1c".to_owned()),
        ("x-gitea-event", "pull_request_comment".to_owned()),
        ("x-gitea-event-type", event.to_owned()),
        ("x-gitea-signature", hex.clone()),
        ("x-forgejo-signature", hex.clone()),
        ("x-hub-signature-256", format!("sha256={hex}")),
    ];
    headers.map(|(name, value)| (name.to_owned(), value)).into()
}

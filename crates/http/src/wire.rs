//! One try on the wire: send, follow within the host, read up to a limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use reqwest::header::{CONTENT_TYPE, HeaderValue, IF_NONE_MATCH};
use url::Url;

use crate::answer::Answer;
use crate::client::Calls;
use crate::dial::dial;
use crate::error::HttpError;
use crate::failed::Failed;
use crate::kept::{Kept, confirmed};
use crate::parcel::{Parcel, may_follow};
use crate::reach::Reach;
use crate::reason;
use crate::route::Method;
use crate::token::Token;

/// How often a read is led on.
const HOPS: usize = 5;

/// The wire to one server.
pub(crate) struct Wire {
    pub(crate) reach: Reach,
    http: reqwest::Client,
    kept: Kept,
    reads: AtomicUsize,
    writes: AtomicUsize,
}

impl Wire {
    pub(crate) fn new(reach: Reach) -> Result<Self, HttpError> {
        let http = dial(&reach)?;
        let kept = Kept::new(reach.limits.kept);
        Ok(Self { reach, http, kept, reads: AtomicUsize::new(0), writes: AtomicUsize::new(0) })
    }

    /// Sends once and waits for the whole answer.
    pub(crate) async fn attempt(&self, parcel: &Parcel) -> Result<Answer, Failed> {
        let kept = parcel.reads().then(|| self.kept.find(&parcel.url)).flatten();
        let etag = kept.as_ref().and_then(|it| it.header("etag"));
        let mut url = parcel.url.clone();
        for _ in 0..=HOPS {
            let answer = self.exchange(parcel, &url, etag).await?;
            match answer.status {
                301 | 302 | 303 | 307 | 308 if parcel.reads() => url = self.onward(&url, &answer)?,
                429 | 500.. => return Err(Failed::Unwell(answer)),
                304 => return Ok(kept.map_or(answer.clone(), |kept| confirmed(&kept, answer))),
                _ => {
                    if parcel.reads() {
                        self.kept.keep(&parcel.url, &answer);
                    }
                    return Ok(answer);
                }
            }
        }
        Err(self.astray("it redirects in circles"))
    }

    pub(crate) fn calls(&self) -> Calls {
        Calls { reads: self.reads.load(Ordering::Relaxed), writes: self.writes.load(Ordering::Relaxed) }
    }

    pub(crate) fn host(&self) -> &str {
        self.reach.base.host_str().unwrap_or_default()
    }

    async fn exchange(&self, parcel: &Parcel, url: &Url, etag: Option<&str>) -> Result<Answer, Failed> {
        let counter = if parcel.reads() { &self.reads } else { &self.writes };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut request = self.http.request(method(parcel.method), url.clone());
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = &parcel.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let answer = request.send().await.map_err(|error| {
            let failed = reason::failed(&error, &self.reach.limits);
            if matches!(failed, Failed::Unsent(_)) {
                counter.fetch_sub(1, Ordering::Relaxed);
            }
            failed
        })?;
        self.read(parcel, answer).await
    }

    async fn read(&self, parcel: &Parcel, mut answer: reqwest::Response) -> Result<Answer, Failed> {
        let limits = &self.reach.limits;
        let status = answer.status().as_u16();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| reason::failed(&error, limits))? {
            if body.len() + chunk.len() > limits.body {
                let why = format!("it is longer than {} bytes", limits.body);
                let error = if parcel.reads() { HttpError::Unreadable(why) } else { HttpError::Unknown };
                return Err(Failed::Final(error));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(self.without_token(Answer { status, headers, body }))
    }

    /// A server that complains about a token may repeat it.
    fn without_token(&self, answer: Answer) -> Answer {
        let token = self.reach.token.as_ref().map(Token::reveal).filter(|it| !it.is_empty());
        match token.zip(std::str::from_utf8(&answer.body).ok()) {
            Some((token, text)) if !answer.is_success() && text.contains(token) => {
                Answer { body: text.replace(token, "…").into_bytes(), ..answer }
            }
            _ => answer,
        }
    }

    /// Where a redirect leads, if the token may go there and the read is on the list.
    fn onward(&self, from: &Url, answer: &Answer) -> Result<Url, Failed> {
        let to = answer.header("location").and_then(|it| from.join(it).ok());
        let to = to.ok_or_else(|| self.astray("it redirects to nowhere"))?;
        if to.origin() != self.reach.base.origin() {
            let elsewhere = to.origin().ascii_serialization();
            return Err(self.astray(&format!("it redirects to `{elsewhere}`, where the token does not go")));
        }
        if !may_follow(&self.reach, &to) {
            return Err(self.astray("it redirects to a page that is no part of its interface"));
        }
        Ok(to)
    }

    fn astray(&self, why: &str) -> Failed {
        Failed::Final(HttpError::Unreachable(self.host().to_owned(), why.to_owned()))
    }
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Patch => reqwest::Method::PATCH,
        Method::Put => reqwest::Method::PUT,
        Method::Delete => reqwest::Method::DELETE, // delete: own label
    }
}

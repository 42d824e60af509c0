//! Answers kept to be asked for on condition: a server that says "not modified" saves both sides the body.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use url::Url;

use crate::response::Response;

/// Answers that carry an `ETag`, oldest first, up to a number of bytes.
pub(crate) struct EtagCache {
    max_bytes: usize,
    entries: Mutex<VecDeque<(Url, Arc<Response>)>>,
}

impl EtagCache {
    pub(crate) fn new(most: usize) -> Self {
        Self { max_bytes: most, entries: Mutex::default() }
    }

    /// What this address answered last.
    pub(crate) fn get(&self, url: &Url) -> Option<Arc<Response>> {
        let answers = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(kept, _)| kept == url).map(|(_, answer)| Arc::clone(answer))
    }

    /// Keeps an answer that can be asked for on condition; the oldest make room for it.
    pub(crate) fn insert(&self, url: &Url, answer: &Response) {
        let mut answers = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|(kept, _)| kept != url);
        if answer.status == 200 && answer.header("etag").is_some() && cached_bytes(answer) <= self.max_bytes {
            answers.push_back((url.clone(), Arc::new(answer.clone())));
        }
        while answers.iter().map(|(_, answer)| cached_bytes(answer)).sum::<usize>() > self.max_bytes {
            answers.pop_front();
        }
    }
}

/// The kept answer with the headers of the "not modified" that confirmed it, its date above all.
pub(crate) fn merge_not_modified(kept: &Response, by: Response) -> Response {
    let mut answer = kept.clone();
    answer.headers.extend(by.headers);
    answer
}

/// An empty body is not free: a thousand of them would be kept for nothing.
fn cached_bytes(answer: &Response) -> usize {
    answer.body.len() + 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str) -> Url {
        Url::parse(&format!("http://localhost/{name}")).expect("an address")
    }

    fn response(etag: Option<&str>, length: usize) -> Response {
        let headers = etag.map(|it| ("etag".to_owned(), it.to_owned())).into_iter().collect();
        Response { status: 200, headers, body: vec![b'x'; length] }
    }

    #[test]
    fn the_oldest_answers_make_room() {
        let kept = EtagCache::new(5000);
        kept.insert(&url("a"), &response(Some("1"), 1000));
        kept.insert(&url("b"), &response(Some("2"), 1000));
        assert!(kept.get(&url("a")).is_some());
        kept.insert(&url("c"), &response(Some("3"), 1000));
        assert!(kept.get(&url("a")).is_none());
        assert!(kept.get(&url("b")).is_some() && kept.get(&url("c")).is_some());
        kept.insert(&url("d"), &response(Some("4"), 9000));
        assert!(kept.get(&url("d")).is_none());
        assert!(kept.get(&url("b")).is_some() && kept.get(&url("c")).is_some());
    }

    #[test]
    fn an_answer_without_a_name_replaces_the_one_that_had_one() {
        let kept = EtagCache::new(5000);
        kept.insert(&url("a"), &response(Some("1"), 0));
        kept.insert(&url("a"), &response(None, 0));
        assert!(kept.get(&url("a")).is_none());
    }
}

//! Answers kept to be asked for on condition: a server that says "not modified" saves both sides the body.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use url::Url;

use crate::answer::Answer;

/// Answers that carry an `ETag`, oldest first, up to a number of bytes.
pub(crate) struct Kept {
    most: usize,
    answers: Mutex<VecDeque<(Url, Arc<Answer>)>>,
}

impl Kept {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, answers: Mutex::default() }
    }

    /// What this address answered last.
    pub(crate) fn find(&self, url: &Url) -> Option<Arc<Answer>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(kept, _)| kept == url).map(|(_, answer)| Arc::clone(answer))
    }

    /// Keeps an answer that can be asked for on condition; the oldest make room for it.
    pub(crate) fn keep(&self, url: &Url, answer: &Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|(kept, _)| kept != url);
        if answer.status == 200 && answer.header("etag").is_some() && weight(answer) <= self.most {
            answers.push_back((url.clone(), Arc::new(answer.clone())));
        }
        while answers.iter().map(|(_, answer)| weight(answer)).sum::<usize>() > self.most {
            answers.pop_front();
        }
    }
}

/// The kept answer with the headers of the "not modified" that confirmed it, its date above all.
pub(crate) fn confirmed(kept: &Answer, by: Answer) -> Answer {
    let mut answer = kept.clone();
    answer.headers.extend(by.headers);
    answer
}

/// An empty body is not free: a thousand of them would be kept for nothing.
fn weight(answer: &Answer) -> usize {
    answer.body.len() + 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(name: &str) -> Url {
        Url::parse(&format!("http://localhost/{name}")).expect("an address")
    }

    fn answer(etag: Option<&str>, length: usize) -> Answer {
        let headers = etag.map(|it| ("etag".to_owned(), it.to_owned())).into_iter().collect();
        Answer { status: 200, headers, body: vec![b'x'; length] }
    }

    #[test]
    fn the_oldest_answers_make_room() {
        let kept = Kept::new(5000);
        kept.keep(&url("a"), &answer(Some("1"), 1000));
        kept.keep(&url("b"), &answer(Some("2"), 1000));
        assert!(kept.find(&url("a")).is_some());
        kept.keep(&url("c"), &answer(Some("3"), 1000));
        assert!(kept.find(&url("a")).is_none());
        assert!(kept.find(&url("b")).is_some() && kept.find(&url("c")).is_some());
        kept.keep(&url("d"), &answer(Some("4"), 9000));
        assert!(kept.find(&url("d")).is_none());
        assert!(kept.find(&url("b")).is_some() && kept.find(&url("c")).is_some());
    }

    #[test]
    fn an_answer_without_a_name_replaces_the_one_that_had_one() {
        let kept = Kept::new(5000);
        kept.keep(&url("a"), &answer(Some("1"), 0));
        kept.keep(&url("a"), &answer(None, 0));
        assert!(kept.find(&url("a")).is_none());
    }
}

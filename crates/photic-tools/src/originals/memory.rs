//! The backend of tools without a store: answers in memory, no originals.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::{LookupError, Originals};

/// Largest number of answers that are kept; the oldest are dropped first.
const MAX_ANSWERS: usize = 256;

/// Keeps the answers of this process. Views get no handles.
#[derive(Debug, Default)]
pub(crate) struct MemoryAnswers(Mutex<VecDeque<(String, String)>>);

impl Originals for MemoryAnswers {
    fn put(&self, _: &[u8], _: &str) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn get(&self, _: &str) -> Result<Vec<u8>, LookupError> {
        Err(LookupError::NoStore)
    }

    fn answer(&self, key: &str) -> Option<String> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(other, _)| other == key).map(|(_, text)| text.clone())
    }

    fn keep_answer(&self, key: &str, text: &str) -> io::Result<()> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((key.to_owned(), text.to_owned()));
        if answers.len() > MAX_ANSWERS {
            answers.pop_front();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_until_newer_ones_take_their_place() {
        let store = MemoryAnswers::default();
        for number in 0..=MAX_ANSWERS {
            store.keep_answer(&number.to_string(), "text").unwrap();
        }
        assert_eq!(store.answer("0"), None);
        assert_eq!(store.answer("1").as_deref(), Some("text"));
        assert!(store.put(b"original", "image/png").is_err());
        assert!(matches!(store.get("img_0123456789abcdef"), Err(LookupError::NoStore)));
    }
}

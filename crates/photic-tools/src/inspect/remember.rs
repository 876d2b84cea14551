//! Answers that were given before: by the picture, the question and the model.
//!
//! In the store where there is one, in memory otherwise; bounded. Must never key by a name: a file
//! that changed is another picture.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::model::Model;
use crate::originals::Originals;

/// Answers kept in memory.
const MOST: usize = 256;
/// What tells these digests from others; a new instruction to models needs a new one.
const CONTEXT: &str = "photic 2026 inspect answer, instruction 1";

/// What was said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) text: String,
    pub(super) media_type: String,
}

/// Answers of this process.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Mutex<VecDeque<(String, Known)>>);

/// Everything that an answer depends on.
pub(super) fn key(
    original: &[u8],
    question: &str,
    model: &Model,
    auto_resize: bool,
) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(blake3::hash(original).as_bytes());
    for text in [question, &model.provider, &model.id, &model.base_url, model.wire.name()] {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.update(&[u8::from(auto_resize)]);
    hasher.finalize()
}

impl Remembered {
    pub(super) fn find(&self, key: &str, store: Option<&dyn Originals>) -> Option<Known> {
        if let Some(store) = store {
            return serde_json::from_str(&store.answer(key)?).ok();
        }
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(other, _)| other == key).map(|(_, known)| known.clone())
    }

    /// An answer that cannot be kept was still given.
    pub(super) fn keep(&self, key: String, known: Known, store: Option<&dyn Originals>) {
        if let Some(store) = store {
            if let Ok(text) = serde_json::to_string(&known) {
                let _ = store.keep_answer(&key, &text);
            }
            return;
        }
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((key, known));
        if answers.len() > MOST {
            answers.pop_front();
        }
    }
}

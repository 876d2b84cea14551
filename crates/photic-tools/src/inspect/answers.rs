//! Stored answers, found by picture, question and model.
//!
//! File names are never part of the key: a changed file is another picture.

use serde::{Deserialize, Serialize};

use super::model::Model;
use crate::originals::Originals;

/// Derivation context of the keys. A new instruction to models needs a new context.
const CONTEXT: &str = "photic 2026 inspect answer, instruction 1";

/// An answer as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredAnswer {
    pub(super) text: String,
    pub(super) media_type: String,
}

/// Returns the digest of everything an answer depends on.
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

impl StoredAnswer {
    /// Finds the answer stored under a key.
    pub(super) fn find(key: &str, store: &dyn Originals) -> Option<Self> {
        serde_json::from_str(&store.answer(key)?).ok()
    }

    /// Stores the answer. A failure is ignored, because the caller has the answer already.
    pub(super) fn keep(&self, key: &str, store: &dyn Originals) {
        if let Ok(text) = serde_json::to_string(self) {
            let _ = store.keep_answer(key, &text);
        }
    }
}

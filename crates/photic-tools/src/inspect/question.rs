//! The steps of an inspection: read the picture, prepare it, ask the model. Batches act between
//! them.

use photic::reply::Usage;

use super::answers;
use super::ask::{self, Written};
use super::choose;
use super::failure::InspectFailure;
use super::prepare::{in_words_of_seed_003, prepare};
use super::{Model, VisionModels};
use crate::arguments::InspectArguments;
use crate::load::Loaded;
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::{Tools, blocking};

/// A question about a picture that has been read.
pub(crate) struct Question {
    loaded: Loaded,
    text: String,
    key: blake3::Hash,
}

impl Question {
    /// Returns the digest of everything an answer depends on.
    pub(crate) const fn key(&self) -> &blake3::Hash {
        &self.key
    }

    /// Returns the file, handle or URL, for display.
    pub(crate) fn name(&self) -> &str {
        &self.loaded.name
    }
}

/// A question with a prepared picture. It can be asked repeatedly.
pub(crate) struct Ready {
    written: Written,
    /// Media type of the picture to send.
    pub(crate) media_type: &'static str,
}

impl Ready {
    /// Returns the estimated tokens, as an upper bound.
    pub(crate) const fn tokens(&self) -> u64 {
        self.written.tokens
    }
}

/// Reply of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    /// Token usage, if the model reported it.
    pub(crate) usage: Option<Usage>,
}

impl Tools {
    fn vision_models(&self) -> Result<&VisionModels, Refusal> {
        self.inner.vision_models.as_ref().ok_or_else(choose::unavailable)
    }

    /// Returns the model that `inspect` asks, or the reason why there is none.
    pub fn asked(&self) -> Result<&Model, Refusal> {
        choose::choose(self.vision_models()?)
    }

    /// Reads the picture of a question.
    pub(crate) async fn question(&self, arguments: &InspectArguments) -> Result<Question, Refusal> {
        let InspectArguments { source, question } = arguments;
        let (model, auto_resize) = (self.asked()?.clone(), self.vision_models()?.auto_resize);
        check_question(question)?;
        let loaded = self.load(source).await.map_err(in_words_of_seed_003)?;
        let text = question.clone();
        blocking(&self.inner, move |_| {
            let key = answers::key(&loaded.bytes, &text, &model, auto_resize);
            Ok(Question { loaded, text, key })
        })
        .await
    }

    /// Prepares the picture of a question.
    pub(crate) async fn ready(&self, question: Question) -> Result<Ready, Refusal> {
        let (model, auto_resize) = (self.asked()?.clone(), self.vision_models()?.auto_resize);
        blocking(&self.inner, move |inner| {
            let picture = prepare(inner, &question.loaded, &model, auto_resize)?;
            let written = ask::write(&model, &picture, &question.text)?;
            Ok(Ready { written, media_type: picture.media_type })
        })
        .await
    }

    /// Asks once. Dropping the future cancels the request.
    pub(crate) async fn put(&self, ready: &Ready) -> Result<Reply, InspectFailure> {
        let models = self.vision_models().map_err(InspectFailure::hopeless)?;
        let model = choose::choose(models).map_err(InspectFailure::hopeless)?;
        ask::ask(&models.client, model, &ready.written).await
    }
}

/// Refuses an empty question.
pub(super) fn check_question(question: &str) -> Result<(), Refusal> {
    if question.trim().is_empty() {
        let says = "there is no question";
        let hint = "say what to find out, such as `what does the error message say?`";
        return Err(Refusal::new(RefusalCode::BadArguments, says, hint));
    }
    Ok(())
}

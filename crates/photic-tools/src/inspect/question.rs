//! An inspection in steps, for whoever has something to do between them: the picture is read and
//! named, then prepared, then shown to the model.

use photic::reply::Usage;

use super::ask::{self, Written};
use super::choose;
use super::prepare::{in_words_of_seed_003, prepare};
use super::remember;
use super::unsaid::InspectFailure;
use super::{Model, VisionModels};
use crate::arguments::InspectArguments;
use crate::load::Loaded;
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::{Tools, blocking};

/// A question about a picture that was read.
pub(crate) struct Question {
    loaded: Loaded,
    text: String,
    key: blake3::Hash,
}

impl Question {
    /// Names all that an answer depends on.
    pub(crate) const fn key(&self) -> &blake3::Hash {
        &self.key
    }

    /// The file, handle or address it is about, for people.
    pub(crate) fn name(&self) -> &str {
        &self.loaded.name
    }
}

/// A question whose picture is prepared: it can be asked, more than once.
pub(crate) struct Ready {
    written: Written,
    /// The type of the picture that is sent.
    pub(crate) media_type: &'static str,
}

impl Ready {
    /// What it should take, and not more than that.
    pub(crate) const fn tokens(&self) -> u64 {
        self.written.tokens
    }
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    /// What it counted, if it says so.
    pub(crate) usage: Option<Usage>,
}

impl Tools {
    fn eyes(&self) -> Result<&VisionModels, Refusal> {
        self.inner.eyes.as_ref().ok_or_else(choose::unavailable)
    }

    /// The model that `inspect` asks, or why it asks none.
    pub fn asked(&self) -> Result<&Model, Refusal> {
        choose::choose(self.eyes()?)
    }

    /// Reads a picture.
    pub(crate) async fn question(&self, arguments: &InspectArguments) -> Result<Question, Refusal> {
        let InspectArguments { source, question } = arguments;
        let (model, auto_resize) = (self.asked()?.clone(), self.eyes()?.auto_resize);
        worth_asking(question)?;
        let loaded = self.load(source).await.map_err(in_words_of_seed_003)?;
        let text = question.clone();
        blocking(&self.inner, move |_| {
            let key = remember::key(&loaded.bytes, &text, &model, auto_resize);
            Ok(Question { loaded, text, key })
        })
        .await
    }

    /// Makes the picture that is sent.
    pub(crate) async fn ready(&self, question: Question) -> Result<Ready, Refusal> {
        let (model, auto_resize) = (self.asked()?.clone(), self.eyes()?.auto_resize);
        blocking(&self.inner, move |inner| {
            let picture = prepare(inner, &question.loaded, &model, auto_resize)?;
            let written = ask::write(&model, &picture, &question.text)?;
            Ok(Ready { written, media_type: picture.media_type })
        })
        .await
    }

    /// Asks, once. To drop the future is to hang up.
    pub(crate) async fn put(&self, ready: &Ready) -> Result<Reply, InspectFailure> {
        let eyes = self.eyes().map_err(InspectFailure::hopeless)?;
        let model = choose::choose(eyes).map_err(InspectFailure::hopeless)?;
        ask::ask(&eyes.client, model, &ready.written).await
    }
}

/// Whether there is a question at all.
pub(super) fn worth_asking(question: &str) -> Result<(), Refusal> {
    if question.trim().is_empty() {
        let says = "there is no question";
        let hint = "say what to find out, such as `what does the error message say?`";
        return Err(Refusal::new(RefusalCode::BadArguments, says, hint));
    }
    Ok(())
}

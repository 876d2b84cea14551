//! A conversation for the contract suite: an agent that takes one screenshot after the other.

use std::collections::BTreeMap;

use photic::media::Payload;
use photic::{Made, Plan, Policy, Prepared, Profile, Transcript, Wire};
use serde_json::{Value, json};

use super::ContractViolation;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::{Record, SessionId};
use crate::store::{FinishedTurn, SentBody, SentHashes, Store};

/// Request of a client that grows turn by turn.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Fields of the body before the messages.
    pub settings: Value,
    /// The messages.
    pub messages: Vec<Value>,
    /// Profile of the target model.
    pub profile: Profile,
    /// Policy of the host.
    pub policy: Policy,
}

/// Creates a file with the PNG header of a 1280 × 800 picture and random bytes that depend on the
/// seed.
pub fn picture(seed: u64, bytes: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend_from_slice(&[0, 0, 5, 0, 0, 0, 3, 32, 8, 2, 0, 0, 0]);
    let mut noise = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let start = png.len();
    png.resize(bytes.max(start), 0);
    noise.fill(&mut png[start..]);
    png
}

impl Conversation {
    /// Creates a conversation that begins with a message of the user.
    pub fn new(words: &str) -> Self {
        Self {
            settings: json!({"model": "gpt-4o", "stream": true}),
            messages: vec![json!({"role": "user", "content": words})],
            profile: Profile::generic(Wire::OpenAiChat),
            policy: Policy::default(),
        }
    }

    /// Adds a tool call and its result, which is a picture.
    pub fn look(&mut self, picture: &[u8]) {
        let id = format!("call_{}", self.messages.len());
        let base64 = String::from_utf8_lossy(Payload::encode(picture).base64()).into_owned();
        let url = format!("data:image/png;base64,{base64}");
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "shot", "arguments": "{}"}}]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": [
            {"type": "image_url", "image_url": {"url": url}}]}));
    }

    /// Returns the body that the client sends.
    pub fn body(&self) -> Vec<u8> {
        let mut body = self.settings.clone();
        body["messages"] = Value::Array(self.messages.clone());
        body["tools"] =
            json!([{"type": "function", "function": {"name": "shot", "parameters": {}}}]);
        body.to_string().into_bytes()
    }

    /// Plans, lowers and records the request. Returns the number of the turn and the lowered body.
    pub async fn send<R: Record, B: Blobs>(
        &self,
        store: &Store<R, B>,
        id: &SessionId,
        time: i64,
    ) -> Result<(u64, Vec<u8>), ContractViolation> {
        Ok(self.try_send(store, id, time).await?)
    }

    /// Plans, lowers and records the request. Returns the error of the store.
    pub async fn try_send<R: Record, B: Blobs>(
        &self,
        store: &Store<R, B>,
        id: &SessionId,
        time: i64,
    ) -> Result<(u64, Vec<u8>), Error> {
        let body = self.body();
        let (transcript, _) = photic::lift(Wire::OpenAiChat, &body);
        let mut survey = photic::survey(&transcript);
        if !self.policy.choices.is_empty() {
            survey.identify(&transcript);
        }
        let plan = photic::plan(survey, &self.profile, &self.policy);
        let prepared = prepare(&transcript, &plan);
        let lowered = photic::lower_prepared(&transcript, &plan, &prepared);
        let sent = lowered.body.to_vec();
        let done = FinishedTurn {
            shed: &[],
            transcript: &transcript,
            plan: &plan,
            policy: &self.policy,
            prepared: &prepared,
            sent: SentBody::of(&lowered.body),
            hashes: Some(&SentHashes::of(&transcript, &lowered, self.profile.wire)),
            conversation_key: None,
            remembered: &BTreeMap::new(),
            time,
        };
        Ok((store.append(id, &done).await?, sent))
    }
}

/// Prepares a plan: creates bytes that depend on the source instead of a real picture.
fn prepare(transcript: &Transcript<'_>, plan: &Plan<'_>) -> Prepared {
    let made = plan.recipes.iter().map(|(&id, recipe)| {
        let size = plan.survey.sightings[id].header.size.unwrap_or((1, 1));
        let size = recipe.fit().size(size);
        let source = match &transcript.media[id].source {
            photic::media::Source::Data(payload) => payload.digest(),
            _ => [0; 32],
        };
        let mut bytes = picture(u64::from(size.0), 2000);
        bytes.extend_from_slice(&source);
        let base64 = String::from_utf8_lossy(Payload::encode(&bytes).base64()).into_owned();
        (id, Made { media_type: "image/png".into(), base64, size })
    });
    made.collect()
}

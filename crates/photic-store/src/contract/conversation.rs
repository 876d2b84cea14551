//! A conversation for the suite: an agent that looks at the screen again and again.

use std::collections::BTreeMap;

use photic::media::Payload;
use photic::{Made, Plan, Policy, Prepared, Profile, Transcript, Wire};
use serde_json::{Value, json};

use super::Broken;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::{Record, SessionId};
use crate::store::{Done, Sent, Store};

/// What a client sends, growing turn by turn.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// What stands before the messages.
    pub settings: Value,
    /// The messages.
    pub messages: Vec<Value>,
    /// What it is sent under.
    pub profile: Profile,
    /// What its host chose.
    pub policy: Policy,
}

/// The bytes of a picture of 1280 × 800, as far as a header tells, and noise: no two seeds are alike.
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
    /// One that begins with words of the user.
    pub fn new(words: &str) -> Self {
        Self {
            settings: json!({"model": "gpt-4o", "stream": true}),
            messages: vec![json!({"role": "user", "content": words})],
            profile: Profile::generic(Wire::OpenAiChat),
            policy: Policy::default(),
        }
    }

    /// The assistant calls a tool, which returns a picture.
    pub fn look(&mut self, picture: &[u8]) {
        let id = format!("call_{}", self.messages.len());
        let base64 = String::from_utf8_lossy(Payload::encode(picture).base64()).into_owned();
        let url = format!("data:image/png;base64,{base64}");
        self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "shot", "arguments": "{}"}}]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": [
            {"type": "image_url", "image_url": {"url": url}}]}));
    }

    /// The body as the client sends it.
    pub fn body(&self) -> Vec<u8> {
        let mut body = self.settings.clone();
        body["messages"] = Value::Array(self.messages.clone());
        body["tools"] =
            json!([{"type": "function", "function": {"name": "shot", "parameters": {}}}]);
        body.to_string().into_bytes()
    }

    /// Does what a host does with the body, and writes it down; the turn's number, and what was
    /// sent.
    pub async fn send<R: Record, B: Blobs>(
        &self,
        store: &Store<R, B>,
        id: &SessionId,
        time: i64,
    ) -> Result<(u64, Vec<u8>), Broken> {
        Ok(self.try_send(store, id, time).await?)
    }

    /// The same, for who wants to know what went wrong.
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
        let done = Done {
            shed: &[],
            transcript: &transcript,
            plan: &plan,
            policy: &self.policy,
            prepared: &prepared,
            sent: Sent::of(&lowered.body),
            kin: None,
            remembered: &BTreeMap::new(),
            time,
        };
        Ok((store.append(id, &done).await?, sent))
    }
}

/// Makes what a plan asks for: no picture anybody could see, but bytes that depend on the source.
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

//! Models that may be asked, and the choice of one.

use std::fmt;

use photic::{Profile, Wire};
use photic_net::Client;

/// The models that `inspect` may ask, and the settings of seed 003.
#[derive(Clone, Debug)]
pub struct VisionModels {
    /// Connections.
    pub client: Client,
    /// Every model there is, in order of preference; none if nobody said.
    pub models: Option<Vec<Model>>,
    /// The model for looking, by `provider/model` or model.
    pub vision: Option<String>,
    /// The model for everything.
    pub default: Option<String>,
    /// The model the conversation is held with.
    pub active: Option<String>,
    /// No picture is sent.
    pub block_images: bool,
    /// Pictures are made small before they are sent.
    pub auto_resize: bool,
}

impl VisionModels {
    /// These models, with pictures made small as seed 003 does.
    pub fn new(client: Client, models: Vec<Model>) -> Self {
        Self {
            client,
            models: Some(models),
            vision: None,
            default: None,
            active: None,
            block_images: false,
            auto_resize: true,
        }
    }
}

/// A model and how to reach it.
#[derive(Clone, Debug)]
pub struct Model {
    /// Whose it is, for people and for choosing.
    pub provider: String,
    /// Its name on the wire.
    pub id: String,
    /// The wire.
    pub wire: Wire,
    /// Where the wire begins, as its SDKs take it: `https://api.openai.com/v1`, but
    /// `https://api.anthropic.com`.
    pub base_url: String,
    /// How we are let in.
    pub key: Key,
    /// What is known about it.
    pub profile: Profile,
}

/// How a provider lets us in.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// With this key.
    Given(String),
    /// It asks for none.
    Open,
    /// It asks for one, and we have none.
    Missing,
}

impl fmt::Debug for Key {
    /// Never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given(_) => "given",
            Self::Open => "open",
            Self::Missing => "missing",
        })
    }
}

impl Model {
    /// A model with the profile that is shipped for it.
    pub fn new(provider: &str, id: &str, wire: Wire, base_url: &str, key: Key) -> Self {
        let host = base_url.split("://").nth(1).and_then(|rest| rest.split(['/', ':']).next());
        Self {
            provider: provider.to_owned(),
            id: id.to_owned(),
            wire,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
            profile: photic::profile::resolve(wire, Some(id), host),
        }
    }

    /// Its name for people: `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

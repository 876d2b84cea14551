//! Models for `inspect` and their settings.

use std::fmt;

use photic::{Profile, Wire};
use photic_net::Client;

/// The models that `inspect` may ask, and its settings.
#[derive(Clone, Debug)]
pub struct VisionModels {
    /// The HTTP client.
    pub client: Client,
    /// All models in order of preference; `None` if models are not configured.
    pub models: Option<Vec<Model>>,
    /// The model for vision, as `provider/model` or model.
    pub vision: Option<String>,
    /// The default model.
    pub default: Option<String>,
    /// The model of the conversation.
    pub active: Option<String>,
    /// Set to forbid sending pictures.
    pub block_images: bool,
    /// Set to downscale pictures before they are sent.
    pub auto_resize: bool,
}

impl VisionModels {
    /// Creates settings for these models, with downscaling.
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

/// A model and its endpoint.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name of the provider.
    pub provider: String,
    /// Name of the model on the wire.
    pub id: String,
    /// The wire.
    pub wire: Wire,
    /// Base URL as its SDKs take it: `https://api.openai.com/v1`, but `https://api.anthropic.com`.
    pub base_url: String,
    /// Authentication.
    pub key: Key,
    /// Environment variable that holds the key, to name it if it is missing.
    pub key_variable: Option<String>,
    /// Its profile.
    pub profile: Profile,
}

/// Authentication at a provider.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// This API key.
    Given(String),
    /// No key is needed.
    Open,
    /// A key is needed and missing.
    Missing,
}

impl fmt::Debug for Key {
    /// Never shows the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given(_) => "given",
            Self::Open => "open",
            Self::Missing => "missing",
        })
    }
}

impl Model {
    /// Creates a model with its built-in profile.
    pub fn new(provider: &str, id: &str, wire: Wire, base_url: &str, key: Key) -> Self {
        let host = base_url.split("://").nth(1).and_then(|rest| rest.split(['/', ':']).next());
        Self {
            provider: provider.to_owned(),
            id: id.to_owned(),
            wire,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
            key_variable: None,
            profile: photic::profile::resolve(wire, Some(id), host),
        }
    }

    /// Names the environment variable that holds its key.
    #[must_use]
    pub fn with_key_variable(mut self, name: &str) -> Self {
        self.key_variable = Some(name.to_owned());
        self
    }

    /// Returns its display name: `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

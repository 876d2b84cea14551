//! Whether the gateway is an openwop host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the gateway is an openwop host, too.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenwopConfig {
    /// Whether the paths of an openwop host are answered.
    pub enabled: bool,
    /// The media that calls may carry: some of `image`, `audio` and `document`.
    pub modalities: Vec<String>,
    /// The largest of them, in MiB.
    pub part_mib: u32,
    /// The model of calls that name none. Without one they are checked and answered, and no model
    /// is asked.
    #[schemars(example = "gpt-4o")]
    pub model: Option<String>,
    /// Names of providers that calls may ask for. Where a call goes is decided by its model alone.
    pub providers: Vec<String>,
    /// Whether words of callers that say nothing about their trust reach the model unmarked.
    pub trust_callers: bool,
}

impl Default for OpenwopConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            modalities: ["image", "document"].map(str::to_owned).to_vec(),
            part_mib: 20,
            model: None,
            providers: vec!["openai".to_owned()],
            trust_callers: true,
        }
    }
}

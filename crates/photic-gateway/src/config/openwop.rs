//! Settings of the openwop host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The openwop host that the gateway can be beside its other APIs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenwopConfig {
    /// If true, the gateway answers the paths of an openwop host.
    pub enabled: bool,
    /// Media types that calls may carry: any of `image`, `audio` and `document`.
    pub modalities: Vec<String>,
    /// Maximum size of one media part, in MiB.
    pub part_mib: u32,
    /// Model for calls that name none. If unset, such calls are checked and answered without a model.
    #[schemars(example = "gpt-4o")]
    pub model: Option<String>,
    /// Provider names that calls may use. The upstream is chosen by the model alone.
    pub providers: Vec<String>,
    /// If true, text from callers that state no trust level reaches the model unmarked.
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

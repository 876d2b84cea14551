//! Where a wire is spoken, and where it looks for its key. Addresses are words here: nobody is
//! called.

use super::Wire;

impl Wire {
    /// Where whole conversations with a model are posted; `base` is what SDKs of the wire take as
    /// their base address, with or without its version where the wire has only one.
    pub fn address(self, base: &str, model: &str) -> String {
        let base = base.trim_end_matches('/');
        let before = |version| base.strip_suffix(version).unwrap_or(base);
        match self {
            Self::OpenAiChat => format!("{base}/chat/completions"),
            Self::OpenAiResponses => format!("{base}/responses"),
            Self::Anthropic => format!("{}/v1/messages", before("/v1")),
            Self::Gemini => {
                let model = escaped(model);
                format!("{}/v1beta/models/{model}:generateContent", before("/v1beta"))
            }
            Self::Converse => format!("{base}/model/{}/converse", escaped(model)),
            Self::Ollama => format!("{}/api/chat", before("/api")),
        }
    }

    /// The header that a key stands in, and what is written before it.
    pub const fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
            Self::OpenAiChat | Self::OpenAiResponses | Self::Converse | Self::Ollama => {
                ("authorization", "Bearer ")
            }
        }
    }
}

/// A name as one segment of a path: some have colons, and those of inference profiles slashes.
pub fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") };
    name.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (wire, base, address) in [
            (Wire::OpenAiChat, "http://h/v1/", "http://h/v1/chat/completions"),
            (Wire::OpenAiResponses, "http://h/v1", "http://h/v1/responses"),
            (Wire::Anthropic, "http://h", "http://h/v1/messages"),
            (Wire::Anthropic, "http://h/v1", "http://h/v1/messages"),
            (Wire::Gemini, "http://h", "http://h/v1beta/models/a.b-v1%3A0:generateContent"),
            (Wire::Gemini, "http://h/v1beta", "http://h/v1beta/models/a.b-v1%3A0:generateContent"),
            (Wire::Converse, "http://h", "http://h/model/a.b-v1%3A0/converse"),
            (Wire::Ollama, "http://h:1", "http://h:1/api/chat"),
        ] {
            assert_eq!(wire.address(base, "a.b-v1:0"), address);
        }
        assert_eq!(escaped("arn:x/ä"), "arn%3Ax%2F%C3%A4");
    }
}

//! The table of wires: one line each.

/// Calls a macro with the table. A line has a variant of [`Wire`](super::Wire), its name in flags,
/// files and reports, and the implementation of `Protocol` in its folder.
///
/// One macro takes the names from it and another the implementations. So a file that needs to name
/// a wire does not depend on every wire.
macro_rules! wires {
    ($callback:ident) => {
        $callback! {
            /// OpenAI Chat Completions, and every server that imitates it.
            OpenAiChat = "openai-chat" => openai_chat::OpenAiChat,
            /// OpenAI Responses.
            OpenAiResponses = "openai-responses" => openai_responses::OpenAiResponses,
            /// Anthropic Messages.
            Anthropic = "anthropic" => anthropic::Anthropic,
            /// Google's `generateContent` and `streamGenerateContent`.
            Gemini = "gemini" => gemini::Gemini,
            /// `Converse` and `ConverseStream` of Amazon Bedrock.
            BedrockConverse = "bedrock-converse" => bedrock_converse::BedrockConverse,
            /// Ollama's own `/api/chat`.
            Ollama = "ollama" => ollama::Ollama,
            /// A wire that no provider has, to test the parts that a wire consists of.
            Sample = "sample" => sample::Sample; if feature "sample-wire",
        }
    };
}

pub(super) use wires;

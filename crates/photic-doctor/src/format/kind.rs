//! The names of the formats, and what is known about each.

use photic::Wire;

/// The format of a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionFormat {
    /// Claude Code: one record per line.
    ClaudeCode,
    /// Codex: one record per line ("rollouts").
    Codex,
    /// pi and oh-my-pi: one record per line.
    Pi,
    /// Gemini CLI: one record per line, or one document.
    GeminiCli,
    /// qwen-code: one record per line.
    QwenCode,
    /// opencode: a database.
    OpenCode,
    /// goose: a database.
    Goose,
    /// The body of one request.
    Request(Wire),
}

impl SessionFormat {
    /// All formats of sessions.
    pub const SESSIONS: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::GeminiCli,
        Self::QwenCode,
        Self::OpenCode,
        Self::Goose,
    ];

    /// The name of the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::OpenCode => "opencode",
            Self::Goose => "goose",
            Self::Request(_) => "request",
        }
    }

    /// The versions of the agent whose files were examined.
    pub const fn versions(self) -> &'static str {
        match self {
            Self::ClaudeCode => "2.0.76",
            Self::Codex => "0.64.0, 0.166.0",
            Self::Pi => "0.73.1 (session versions 2 and 3)",
            Self::GeminiCli => "0.61.0",
            Self::QwenCode => "0.15.10",
            Self::OpenCode => "1.18.33",
            Self::Goose => "the public source of 2026",
            Self::Request(_) => "every wire",
        }
    }

    /// A list of all formats, for error messages.
    pub fn supported() -> String {
        let names: Vec<&str> = Self::SESSIONS.iter().map(|format| format.name()).collect();
        let wires: Vec<String> = Wire::ALL.iter().map(ToString::to_string).collect();
        format!("sessions of {}, and request bodies of {}", names.join(", "), wires.join(", "))
    }

    /// The wire that the agent uses unless the model decides otherwise.
    pub(crate) const fn wire(self) -> Option<Wire> {
        match self {
            Self::ClaudeCode => Some(Wire::Anthropic),
            Self::Codex => Some(Wire::OpenAiResponses),
            Self::GeminiCli => Some(Wire::Gemini),
            Self::QwenCode => Some(Wire::OpenAiChat),
            Self::Request(wire) => Some(wire),
            Self::Pi | Self::OpenCode | Self::Goose => None,
        }
    }

    /// Returns `true` if another index stores byte offsets of lines; then a shorter line is padded
    /// with blanks.
    pub(crate) const fn keeps_offsets(self) -> bool {
        matches!(self, Self::Codex)
    }
}

//! Providers by family: wires that share a base address and a key.

use photic::Wire;

/// Wires that share a base address and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Chat Completions and Responses.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Gemini.
    Google,
    /// Bedrock.
    Amazon,
    /// Ollama.
    Ollama,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::Anthropic, Self::Google, Self::Amazon, Self::Ollama];

    /// Its name, as paths and data files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Amazon => "amazon",
            Self::Ollama => "ollama",
        }
    }

    /// The family of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Its wires, the usual one first.
    pub const fn wires(self) -> &'static [Wire] {
        match self {
            Self::OpenAi => &[Wire::OpenAiChat, Wire::OpenAiResponses],
            Self::Anthropic => &[Wire::Anthropic],
            Self::Google => &[Wire::Gemini],
            Self::Amazon => &[Wire::Converse],
            Self::Ollama => &[Wire::Ollama],
        }
    }

    /// The wire of requests that are no conversation.
    pub const fn wire(self) -> Wire {
        self.wires()[0]
    }

    /// The family of a wire.
    pub const fn of(wire: Wire) -> Self {
        match wire {
            Wire::OpenAiChat | Wire::OpenAiResponses => Self::OpenAi,
            Wire::Anthropic => Self::Anthropic,
            Wire::Gemini => Self::Google,
            Wire::Converse => Self::Amazon,
            Wire::Ollama => Self::Ollama,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wire_has_one_family() {
        for wire in Wire::ALL {
            let of: Vec<_> =
                Family::ALL.into_iter().filter(|one| one.wires().contains(&wire)).collect();
            assert_eq!(of, [Family::of(wire)]);
        }
        for family in Family::ALL {
            assert_eq!(Family::from_name(family.name()), Some(family));
        }
    }
}

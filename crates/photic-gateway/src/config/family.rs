//! Families of providers: wires that share a base address and a key.

use photic::Wire;

/// Wires that share a base address and a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family(&'static str);

impl Family {
    /// OpenAI: Chat Completions and Responses.
    pub const OPENAI: Self = Self("openai");
    /// Anthropic: Messages.
    pub const ANTHROPIC: Self = Self("anthropic");
    /// Google: Gemini.
    pub const GOOGLE: Self = Self("google");
    /// Amazon: Bedrock.
    pub const AMAZON: Self = Self("amazon");
    /// Ollama.
    pub const OLLAMA: Self = Self("ollama");

    /// Returns every family, in the order of its first wire.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for family in Wire::ALL.map(Self::of) {
            if !all.contains(&family) {
                all.push(family);
            }
        }
        all
    }

    /// Returns the name, as paths and data files write it.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Returns the family of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Wire::ALL.map(Self::of).into_iter().find(|family| family.name() == name)
    }

    /// Returns the wires of the family, the usual one first.
    pub fn wires(self) -> impl Iterator<Item = Wire> {
        Wire::ALL.into_iter().filter(move |wire| Self::of(*wire) == self)
    }

    /// Returns the wire for requests that are not turns of a conversation.
    pub fn wire(self) -> Wire {
        self.wires().next().unwrap_or(Wire::OpenAiChat)
    }

    /// Returns the family of a wire.
    pub fn of(wire: Wire) -> Self {
        Self(wire.http().family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_wires() {
        use Family as F;
        let named = [F::OPENAI, F::ANTHROPIC, F::GOOGLE, F::AMAZON, F::OLLAMA];
        for family in named.into_iter().chain(Family::all()) {
            assert_eq!(Family::from_name(family.name()), Some(family));
            assert!(family.wires().all(|wire| Family::of(wire) == family));
            assert_eq!(Family::of(family.wire()), family);
        }
    }
}

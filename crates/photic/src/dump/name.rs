//! The names of the dumps.

use std::str::FromStr;

use crate::name::UnknownName;

/// A shape in which a framework stores conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dump {
    /// Messages of the AI SDK (4 to 7), and the prompts it hands to its providers.
    AiSdk,
    /// Messages of `LangChain`, in Python or JavaScript.
    LangChain,
    /// Messages of pydantic-ai.
    PydanticAi,
    /// The result of a tool or the messages of a prompt, as MCP servers send them.
    Mcp,
    /// A call of a model by an openwop host.
    Openwop,
}

impl Dump {
    /// Every shape.
    pub const ALL: [Self; 5] =
        [Self::AiSdk, Self::LangChain, Self::PydanticAi, Self::Mcp, Self::Openwop];

    /// The name used in flags, files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AiSdk => "ai-sdk",
            Self::LangChain => "langchain",
            Self::PydanticAi => "pydantic-ai",
            Self::Mcp => "mcp",
            Self::Openwop => "openwop",
        }
    }

    /// Returns the shape of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dump| dump.name() == name)
    }
}

impl std::fmt::Display for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dump {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::from_name(name)
            .ok_or_else(|| UnknownName::new("dump", name, Self::ALL.map(Self::name)))
    }
}

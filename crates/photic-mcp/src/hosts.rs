//! Known behavior of hosts, the programs that show tool results to a model.
//!
//! One difference matters: whether structured content replaces the content blocks.

/// Hosts that show structured content *instead of* the content blocks, so that a picture is lost.
/// Listed by the name they send.
const STRUCTURED_ONLY: [(&str, &str); 3] = [
    ("claude-code", "anthropics/claude-code#54737 and #79944, seen in 2.1.280, 2026-09"),
    ("codex-mcp-client", "anomalyco/opencode#32868, 2026-06; openai/codex#43497 disagrees"),
    ("opencode", "anomalyco/opencode#32868, declared intended, 2026-06"),
];

/// Hosts that get structured content and output schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// Every host except those known to lose pictures.
    #[default]
    Auto,
    /// Every host.
    Always,
    /// No host. The text and `_meta` contain the data as well.
    Never,
}

impl Structured {
    /// The names, as flags take them.
    pub const NAMES: [&str; 3] = ["auto", "always", "never"];

    /// Parses a name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }

    /// Returns whether this host gets structured content.
    pub(crate) fn for_host(self, name: Option<&str>) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => !name.is_some_and(loses_pictures),
        }
    }
}

fn loses_pictures(name: &str) -> bool {
    STRUCTURED_ONLY.iter().any(|(host, _)| name.trim().eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_would_lose_the_picture_get_no_structured_content() {
        for (host, source) in STRUCTURED_ONLY {
            assert!(!Structured::Auto.for_host(Some(host)), "{host}");
            assert!(Structured::Always.for_host(Some(host)));
            assert!(source.contains('#'), "{host} has a source");
        }
        assert!(!Structured::Auto.for_host(Some("Claude-Code")));
        assert!(Structured::Auto.for_host(Some("claude-ai")));
        assert!(Structured::Auto.for_host(None));
        assert!(!Structured::Never.for_host(None));
        for name in Structured::NAMES {
            assert!(Structured::from_name(name).is_some());
        }
    }
}

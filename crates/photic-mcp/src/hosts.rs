//! What is known about hosts: the programs that show results of tools to a model.
//!
//! Owns the one difference between them that blinds: whether structured content replaces content.

/// Hosts that show their model the structured content of a result *instead of* its blocks, so that
/// a picture beside it is lost; by the name they introduce themselves with.
const STRUCTURED_ONLY: [(&str, &str); 3] = [
    ("claude-code", "anthropics/claude-code#54737 and #79944, seen in 2.1.280, 2026-09"),
    ("codex-mcp-client", "anomalyco/opencode#32868, 2026-06; openai/codex#43497 disagrees"),
    ("opencode", "anomalyco/opencode#32868, declared intended, 2026-06"),
];

/// Who gets structured content, and output schemas that announce it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structured {
    /// Every host but those known to lose pictures over it.
    #[default]
    Auto,
    /// Every host.
    Always,
    /// None: everything stands in the text and in `_meta` as well.
    Never,
}

impl Structured {
    /// The names, as flags take them.
    pub const NAMES: [&str; 3] = ["auto", "always", "never"];

    /// By its name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }

    /// Whether this host gets it.
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

//! Errors in the settings.

/// An error in a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not TOML, or a value has the wrong type.
    #[error("{0}")]
    Toml(String),
    /// The key does not exist.
    #[error("unknown key `{key}`{}", suggestion(.instead.as_deref()))]
    UnknownKey {
        /// The key, with the tables around it.
        key: String,
        /// The existing key that is spelled most like it.
        instead: Option<String>,
    },
    /// The value cannot be used.
    #[error("`{key}`: {problem}")]
    Value {
        /// The key.
        key: String,
        /// The problem with the value.
        problem: String,
    },
}

fn suggestion(instead: Option<&str>) -> String {
    instead.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

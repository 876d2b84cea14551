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

impl ConfigError {
    /// The error of a text that is not TOML, or has a value of the wrong type. Lines and values with a
    /// URL or the word `password` are left out.
    pub(super) fn toml(error: &toml::de::Error) -> Self {
        let may_be_secret = |text: &str| text.contains("://") || text.contains("password");
        let (whole, message) = (error.to_string(), error.message());
        if !may_be_secret(&whole) {
            return Self::Toml(whole);
        }
        let place = whole.lines().next().filter(|line| !may_be_secret(line));
        let place = place.unwrap_or("TOML parse error");
        let message = if may_be_secret(message) { "the value is wrong" } else { message };
        Self::Toml(format!("{place}: {message}"))
    }
}

fn suggestion(instead: Option<&str>) -> String {
    instead.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

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
        // The lines of the file stand behind their numbers: `2 | key = 1`.
        let shows_a_secret = whole
            .lines()
            .filter_map(|line| line.split_once(" | "))
            .any(|(_, it)| sets_a_secret(it));
        if !shows_a_secret && !may_be_secret(&whole) {
            return Self::Toml(whole);
        }
        let place = whole.lines().next().filter(|line| !may_be_secret(line));
        let place = place.unwrap_or("TOML parse error");
        // It quotes values: `invalid type: string "…"`.
        let quotes_a_value = message.contains('"') || may_be_secret(message);
        let message = if quotes_a_value { "the value is wrong" } else { message };
        Self::Toml(format!("{place}: {message}"))
    }
}

/// Returns `true` if a line of a file sets a key or a header.
fn sets_a_secret(line: &str) -> bool {
    let name = line.split_once('=').map(|(name, _)| name.to_ascii_lowercase());
    name.is_some_and(|name| {
        ["key", "header", "authorization", "secret", "token"].iter().any(|it| name.contains(it))
    })
}

fn suggestion(instead: Option<&str>) -> String {
    instead.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    #[test]
    fn what_is_wrong_is_said() {
        let says = Config::parse("not toml").unwrap_err().to_string();
        assert!(says.contains("expected"), "{says}");
    }

    #[test]
    fn a_line_with_a_secret_is_not_shown() {
        for text in [
            "[[upstream]]\nurl='x'\nkey = sk-s3cret",
            "[[upstream]]\nurl='x'\nheaders = s3cret",
            "[[upstream]]\nurl='x'\nheaders = 's3cret'",
        ] {
            let says = Config::parse(text).unwrap_err().to_string();
            assert!(says.contains("TOML parse error") && !says.contains("s3cret"), "{says}");
        }
    }
}

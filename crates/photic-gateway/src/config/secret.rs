//! Texts of settings that may hold a secret.

use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

use super::error::ConfigError;

/// A text that may hold a secret: as it is, with `${NAME}` for environment variables, or `file:PATH`.
/// Neither `Debug` nor the serialized form shows a secret.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct SecretText(String);

/// The place that a secret is taken from.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum SecretSource {
    /// The text itself.
    Text(String),
    /// A file that is read again when it changes.
    File(PathBuf),
}

impl SecretText {
    /// Creates a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the place of the secret, with environment variables replaced by their values.
    ///
    /// # Errors
    ///
    /// Fails if a variable is not set, or if the text is empty. `key` names the setting.
    pub(crate) fn source(
        &self,
        key: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<SecretSource, ConfigError> {
        let wrong = |problem: String| ConfigError::Value { key: key.to_owned(), problem };
        if let Some(path) = self.0.strip_prefix("file:") {
            let path = expanded(path, &variable).map_err(wrong)?;
            return Ok(SecretSource::File(path.into()));
        }
        let text = expanded(&self.0, &variable).map_err(wrong)?;
        if text.trim().is_empty() {
            return Err(wrong("it is empty; remove the setting, or set the variable".to_owned()));
        }
        Ok(SecretSource::Text(text))
    }

    /// Returns the secret itself. A file is read once.
    ///
    /// # Errors
    ///
    /// Fails like [`SecretText::source`], or if the file cannot be read.
    pub(crate) fn read(&self, key: &str) -> Result<String, ConfigError> {
        match self.source(key, |name| std::env::var(name).ok())? {
            SecretSource::Text(text) => Ok(text),
            SecretSource::File(path) => match std::fs::read_to_string(&path) {
                Ok(text) => Ok(text.trim().to_owned()),
                Err(error) => {
                    let problem = format!("cannot read `{}`: {error}", path.display());
                    Err(ConfigError::Value { key: key.to_owned(), problem })
                }
            },
        }
    }

    /// Returns the part of the text that is no secret: the names of variables and files.
    fn shown(&self) -> &str {
        let is_variable = self.0.starts_with("${") && self.0.find('}') == Some(self.0.len() - 1);
        if is_variable || self.0.starts_with("file:") { &self.0 } else { "not shown" }
    }
}

/// Replaces `${NAME}` by the values of variables.
fn expanded(text: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("${") {
        whole.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            return Err("a `${` has no `}`; write variables as `${NAME}`".to_owned());
        };
        let Some(value) = variable(name) else {
            return Err(format!("the environment variable `{name}` is not set; set it"));
        };
        whole.push_str(value.trim());
        rest = behind;
    }
    whole.push_str(rest);
    Ok(whole)
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

impl JsonSchema for SecretText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SecretText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Result<SecretSource, String> {
        let variable = |name: &str| match name {
            "KEY" => Some("s3cret\n".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        SecretText::new(text).source("upstream.key", variable).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_and_files_are_named_in_the_text() {
        for (text, expected) in [
            ("plain", "plain"),
            ("${KEY}", "s3cret"),
            ("Bearer ${KEY}-${KEY}", "Bearer s3cret-s3cret"),
            ("$KEY", "$KEY"),
        ] {
            assert!(source(text) == Ok(SecretSource::Text(expected.to_owned())), "{text}");
        }
        let file = source("file:/run/secrets/${KEY}");
        assert!(file == Ok(SecretSource::File("/run/secrets/s3cret".into())));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, says) in [
            ("${NONE}", "`upstream.key`: the environment variable `NONE` is not set; set it"),
            ("${KEY", "`upstream.key`: a `${` has no `}`; write variables as `${NAME}`"),
            ("${EMPTY}", "`upstream.key`: it is empty; remove the setting, or set the variable"),
        ] {
            assert_eq!(source(text).err().as_deref(), Some(says));
        }
        let missing = SecretText::new("file:/nonexistent/key").read("upstream.key").unwrap_err();
        assert!(missing.to_string().contains("cannot read `/nonexistent/key`"), "{missing}");
    }

    #[test]
    fn a_secret_is_not_shown() {
        for (text, shown) in [
            ("sk-secret", "not shown"),
            ("Bearer ${KEY}", "not shown"),
            ("${KEY}", "${KEY}"),
            ("file:/run/key", "file:/run/key"),
        ] {
            let secret = SecretText::new(text);
            assert_eq!(format!("{secret:?}"), shown);
            assert_eq!(serde_json::to_value(&secret).unwrap(), shown);
        }
    }
}

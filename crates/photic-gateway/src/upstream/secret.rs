//! Secrets while the gateway runs. Those in files are read again when they change.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use tokio::time::Instant;

use crate::config::{ConfigError, SecretSource, SecretText};

/// Time after which a file is read again, if its secret is needed.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// A secret: a text, or the content of a file.
pub(super) enum Secret {
    Text(Arc<str>),
    File(SecretFile),
}

/// A file with a secret, as a mounted secret of Kubernetes.
pub(super) struct SecretFile {
    path: PathBuf,
    known: Mutex<(Instant, Arc<str>)>,
}

impl Secret {
    /// Creates the secret of a setting, which `key` names.
    ///
    /// # Errors
    ///
    /// Fails if a variable is not set or a file cannot be read.
    pub(super) fn new(text: &SecretText, key: &str) -> Result<Self, ConfigError> {
        let secret = match text.source(key, |name| std::env::var(name).ok())? {
            SecretSource::Text(text) => Self::Text(text.into()),
            SecretSource::File(path) => {
                let known = Mutex::new((Instant::now(), text.read(key)?.into()));
                Self::File(SecretFile { path, known })
            }
        };
        if secret.header("").is_none() {
            let problem = "it has characters that no header may have".to_owned();
            return Err(ConfigError::Value { key: key.to_owned(), problem });
        }
        Ok(secret)
    }

    /// Returns the secret as it is now.
    fn text(&self) -> Arc<str> {
        match self {
            Self::Text(text) => Arc::clone(text),
            Self::File(file) => file.read(),
        }
    }

    /// Returns the value of a header: the secret behind some letters.
    pub(super) fn header(&self, before: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&[before, &self.text()].concat()).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl SecretFile {
    /// Returns the content. If the file cannot be read at the moment, it is what it was.
    fn read(&self) -> Arc<str> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0.elapsed() >= READ_AGAIN {
            known.0 = Instant::now();
            let text = std::fs::read_to_string(&self.path).unwrap_or_default();
            let text = text.trim();
            if !text.is_empty() && *text != *known.1 {
                known.1 = text.into();
            }
        }
        Arc::clone(&known.1)
    }
}

/// A secret is not shown.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_is_read_again_when_it_changed() {
        let path = std::env::temp_dir().join(format!("photic-secret-{}", std::process::id()));
        std::fs::write(&path, "one\n").unwrap();
        let text = SecretText::new(format!("file:{}", path.display()));
        let secret = Secret::new(&text, "upstream.key").unwrap();
        let says = |expected: &str| assert_eq!(secret.header("Bearer ").unwrap(), expected);
        says("Bearer one");
        std::fs::write(&path, "two").unwrap();
        says("Bearer one");
        tokio::time::advance(READ_AGAIN).await;
        says("Bearer two");
        // A secret that is just being replaced is not lost.
        std::fs::remove_file(&path).unwrap();
        tokio::time::advance(READ_AGAIN).await;
        says("Bearer two");
        assert!(Secret::new(&text, "upstream.key").is_err());
    }

    #[test]
    fn a_secret_with_line_breaks_is_refused() {
        let says = Secret::new(&SecretText::new("a\r\nx: y"), "upstream.key").unwrap_err();
        assert!(says.to_string().contains("no header may have"), "{says}");
    }
}

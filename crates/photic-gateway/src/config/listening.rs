//! Settings of connections from clients, and of reading the settings again.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TLS for clients. The listener for operators has none.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsConfig {
    /// File with the certificate and those of its issuers, in PEM. If set, clients connect by TLS
    /// only, with HTTP/1.1 or HTTP/2.
    #[schemars(example = "/etc/photic/tls.crt")]
    pub certificate: Option<PathBuf>,
    /// File with the private key, in PEM.
    #[schemars(example = "/etc/photic/tls.key")]
    pub key: Option<PathBuf>,
    /// Seconds between two looks at both files. New ones hold for new connections. 0 looks only when
    /// the settings are reloaded.
    pub watch_s: u32,
}

/// Reading the settings again while the gateway runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReloadConfig {
    /// Seconds between two looks at the settings file and the file of callers. If one has changed,
    /// the settings are reloaded. 0 reloads only on `SIGHUP`, and on `POST /reload` at the address
    /// for operators.
    pub watch_s: u32,
}

impl TlsConfig {
    /// Returns the files of the certificate and of the key, if both are set.
    pub(crate) fn files(&self) -> (Option<&PathBuf>, Option<&PathBuf>) {
        let set = |path: &'_ PathBuf| !path.as_os_str().is_empty();
        let (certificate, key) = (self.certificate.as_ref(), self.key.as_ref());
        (certificate.filter(|path| set(path)), key.filter(|path| set(path)))
    }
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self { certificate: None, key: None, watch_s: 10 }
    }
}

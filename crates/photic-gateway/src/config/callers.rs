//! Settings of callers that are known without a database: by keys in a file, or by signed tokens.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Callers that are known without a database, and what they use.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallersConfig {
    /// File with the digests of keys, and the limits of their owners. `photic key new NAME` makes a
    /// key and its entry. If set, every request needs a key of this file, or a token (`oidc.issuer`).
    #[schemars(example = "callers.toml")]
    pub file: Option<PathBuf>,
    /// File that counts what callers used of their limits. Several gateways on one machine share it,
    /// and it outlives restarts. If unset, each process counts for itself from its start.
    #[schemars(example = "/var/lib/photic/meters")]
    pub meters: Option<PathBuf>,
    /// File that gets a line of JSON for the usage of every turn of a caller. It is opened again on
    /// reload.
    #[schemars(example = "/var/log/photic/usage.jsonl")]
    pub usage_log: Option<PathBuf>,
    /// Output tokens that a running request without a limit of its own (`max_tokens`) is counted
    /// with, until its reply ends.
    pub reply_tokens: u32,
    /// The price of an output token of a model whose list price of output is not known, as a multiple
    /// of its list price of an input token.
    pub output_price: u32,
}

/// Callers that show a token that an identity provider signed (OIDC).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct OidcConfig {
    /// The issuer of tokens, exactly as in their claim `iss`. If unset, no tokens are accepted.
    #[schemars(example = "https://login.example.com")]
    pub issuer: Option<String>,
    /// The audience that tokens must name in their claim `aud`.
    pub audience: String,
    /// URL or file of the issuer's keys (JWKS). If unset, the issuer's
    /// `/.well-known/openid-configuration` names it.
    #[schemars(example = "https://login.example.com/keys")]
    pub jwks: Option<String>,
    /// The signature algorithms that are accepted. Tokens with any other, or with none, are refused.
    pub algorithms: Vec<String>,
    /// The claim with the name of the caller.
    pub name_claim: String,
    /// A claim with the limits of the caller: an object with the fields of a caller in
    /// `callers.file`. Fields that it lacks are those of `like`.
    #[schemars(example = &"photic")]
    pub limits_claim: Option<String>,
    /// A caller in `callers.file` whose limits hold for each caller with a token. If unset, only
    /// `limits_claim` limits them.
    #[schemars(example = "by-token")]
    pub like: Option<String>,
    /// Seconds after which the issuer's keys are fetched again.
    pub refresh_s: u32,
}

impl CallersConfig {
    /// Returns the file of keys, if there is one.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        set(self.file.as_ref())
    }

    /// Returns the file of meters, if there is one.
    pub(crate) fn meters(&self) -> Option<&PathBuf> {
        set(self.meters.as_ref())
    }

    /// Returns the usage log, if there is one.
    pub(crate) fn usage_log(&self) -> Option<&PathBuf> {
        set(self.usage_log.as_ref())
    }
}

fn set(path: Option<&PathBuf>) -> Option<&PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
}

impl OidcConfig {
    /// Returns the issuer of tokens, if tokens are accepted.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref().filter(|issuer| !issuer.is_empty())
    }
}

impl Default for CallersConfig {
    fn default() -> Self {
        Self { file: None, meters: None, usage_log: None, reply_tokens: 8192, output_price: 8 }
    }
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: None,
            audience: "photic".to_owned(),
            jwks: None,
            algorithms: vec!["RS256".to_owned(), "ES256".to_owned()],
            name_claim: "sub".to_owned(),
            limits_claim: None,
            like: None,
            refresh_s: 600,
        }
    }
}

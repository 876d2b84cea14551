//! The keys of callers that are known without a database: digests in a file, and tokens.

use std::sync::Arc;

use photic_store::Tenant;

use super::callers::{KeyError, KeyOwner, KeyRing, NamedCaller};
use super::identity::Identity;
use super::limits::{self, CallerLimits, digest, owner};
use super::oidc::{Oidc, TokenError, TokenOwner};
use crate::config::{Config, ConfigError};
use crate::future::BoxFuture;
use crate::http::Failure;

/// The keys of callers in a file, and of those with tokens.
#[derive(Clone, Debug)]
pub(crate) struct CallerKeys {
    keys: Arc<Vec<(blake3::Hash, NamedCaller)>>,
    oidc: Option<Arc<Oidc>>,
}

impl CallerKeys {
    /// Reads the file of callers, and prepares the check of tokens. Keys of an issuer that `before`
    /// has fetched are kept. Returns `None` if no callers are configured.
    ///
    /// # Errors
    ///
    /// Fails if a setting or the file is wrong.
    pub(crate) fn new(config: &Config, before: Option<&Self>) -> Result<Option<Self>, ConfigError> {
        let callers = config.callers.file().map(|path| limits::read(path)).transpose()?;
        let callers = callers.unwrap_or_default();
        let like = match config.oidc.like.as_deref().filter(|like| !like.is_empty()) {
            None => CallerLimits::default(),
            Some(like) => {
                let found = callers.iter().find(|caller| caller.name == like);
                let problem = "no caller of `callers.file` has this name";
                found.map(|caller| caller.limits.clone()).ok_or_else(|| ConfigError::Value {
                    key: "oidc.like".to_owned(),
                    problem: problem.to_owned(),
                })?
            }
        };
        let same = before.and_then(|before| before.oidc.as_ref());
        let oidc = match same.filter(|oidc| oidc.is_of(&config.oidc, &like)) {
            Some(same) => Some(Arc::clone(same)),
            None => Oidc::new(&config.oidc, like)?.map(Arc::new),
        };
        if config.callers.file().is_none() && oidc.is_none() {
            return Ok(None);
        }
        let keys = callers.into_iter().filter_map(|caller| {
            let named = NamedCaller { name: caller.name.into(), limits: Arc::new(caller.limits) };
            Some((caller.digest?, named))
        });
        Ok(Some(Self { keys: Arc::new(keys.collect()), oidc }))
    }

    /// Fetches the keys of the issuer of tokens, unless `before` has them. Returns the problem if that
    /// fails.
    pub(crate) async fn start(&self, before: Option<&Self>) -> Option<String> {
        let oidc = self.oidc.as_ref()?;
        let known = before.and_then(|before| before.oidc.as_ref());
        if known.is_some_and(|known| Arc::ptr_eq(known, oidc)) {
            return None;
        }
        oidc.start().await
    }

    /// Finds the owner of a key. Every key is compared, and each comparison takes the same time, so
    /// that the time says nothing about the digests.
    fn of_file(&self, key: &str) -> Option<NamedCaller> {
        let digest = digest(key);
        let mut found = None;
        for (own, caller) in &*self.keys {
            if *own == digest {
                found = Some(caller);
            }
        }
        found.cloned()
    }
}

impl KeyRing for CallerKeys {
    fn find<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<KeyOwner>, KeyError>> {
        Box::pin(async move {
            let named = match self.oidc.as_ref().filter(|_| is_token(key)) {
                None => self.of_file(key),
                Some(oidc) => match oidc.owner(key).await {
                    Ok(TokenOwner { name, limits }) => {
                        Some(NamedCaller { name: name.into(), limits })
                    }
                    Err(TokenError::Away) => return Err(KeyError::Away),
                    Err(TokenError::Refused(problem)) => return Err(KeyError::Token(problem)),
                },
            };
            Ok(named.map(|named| KeyOwner {
                // One operator has one record. What callers teach and cache is kept apart.
                tenant: Tenant::local(),
                key: Some(named.name.to_string()),
                identity: Identity::Tenant(owner(&named.name)),
                named: Some(named),
            }))
        })
    }

    fn replaces_client_keys(&self) -> bool {
        true
    }

    fn missing(&self) -> Failure {
        Failure::NoCallerKey
    }
}

/// Returns `true` if a key has the form of a token (RFC 7519): an object in base64 and two dots.
fn is_token(key: &str) -> bool {
    key.starts_with("ey") && key.bytes().filter(|byte| *byte == b'.').count() == 2
}

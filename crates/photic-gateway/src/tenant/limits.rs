//! The limits of a caller, and the file that lists callers.

use std::path::Path;

use photic_store::Tenant;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::config::ConfigError;

/// Maximum length of a caller's name.
const MAX_NAME: usize = 128;
/// The text before the digits of a digest.
const ALGORITHM: &str = "sha256:";

/// The limits of a caller. A field that is not set does not limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallerLimits {
    /// Globs of the models that it may use.
    pub(crate) models: Option<Vec<String>>,
    pub(crate) requests_per_minute: Option<u64>,
    pub(crate) mib_per_minute: Option<u64>,
    pub(crate) tokens_per_day: Option<u64>,
    pub(crate) usd_per_day: Option<f64>,
}

/// A caller as the file or a claim of a token describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallerEntry {
    pub(super) name: String,
    digest: Option<String>,
    models: Option<Vec<String>>,
    requests_per_minute: Option<u64>,
    mib_per_minute: Option<u64>,
    tokens_per_day: Option<u64>,
    usd_per_day: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CallerList {
    caller: Vec<CallerEntry>,
}

/// A caller of the file.
#[derive(Clone, Debug)]
pub(crate) struct FileCaller {
    pub(crate) name: String,
    /// The digest of its key. Without one it has no key, and other callers can be like it.
    pub(crate) digest: Option<blake3::Hash>,
    pub(crate) limits: CallerLimits,
}

/// Returns the digest of a key.
///
/// Compared as [`blake3::Hash`], whose comparison takes the same time for all values. A key has 256
/// random bits, so no slow hash is needed to protect it.
pub(crate) fn digest(key: &str) -> blake3::Hash {
    let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    blake3::Hash::from_bytes(digest)
}

/// Reads the file of callers.
///
/// # Errors
///
/// Fails if it cannot be read, or if an entry is wrong. The error names the entry, and no digest.
pub(crate) fn read(path: &Path) -> Result<Vec<FileCaller>, ConfigError> {
    let shown = path.display();
    let wrong = |problem: String| ConfigError::Value { key: "callers.file".to_owned(), problem };
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot read `{shown}`: {error}")))?;
    parse(&text).map_err(|problem| wrong(format!("`{shown}`: {problem}")))
}

fn parse(text: &str) -> Result<Vec<FileCaller>, String> {
    let list: CallerList = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    let mut callers: Vec<FileCaller> = Vec::new();
    for entry in list.caller {
        let name = entry.name.clone();
        if !is_name(&name) {
            return Err(format!(
                "the name of a caller has 1 to {MAX_NAME} letters, digits or `-._@:+/`, unlike `{}`",
                name.escape_debug()
            ));
        }
        if callers.iter().any(|other| other.name == name && other.digest.is_none()) {
            return Err(format!("two entries are named `{name}`, and one has no `digest`"));
        }
        let about = |problem: &str| format!("caller `{name}`: {problem}");
        let digest = entry.digest.as_deref().map(|digest| {
            let digits = digest.strip_prefix(ALGORITHM);
            digits.and_then(|digits| blake3::Hash::from_hex(digits).ok())
        });
        let digest = match digest {
            Some(None) => {
                let problem =
                    "`digest` is `sha256:` and 64 hexadecimal digits; `photic key new` prints one";
                return Err(about(problem));
            }
            Some(digest) => digest,
            None => None,
        };
        let limits = entry.limits(&CallerLimits::default()).map_err(about)?;
        callers.push(FileCaller { name, digest, limits });
    }
    Ok(callers)
}

/// Returns `true` for a name that may stand in logs and labels.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._@:+/|".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

impl CallerEntry {
    /// Returns the limits, with those of `like` where the entry has none.
    pub(super) fn limits(&self, like: &CallerLimits) -> Result<CallerLimits, &'static str> {
        if self.models.as_ref().is_some_and(Vec::is_empty) {
            return Err("`models` is empty; remove it to allow all models");
        }
        if self.usd_per_day.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err("`usd_per_day` is no amount of money");
        }
        Ok(CallerLimits {
            models: self.models.clone().or_else(|| like.models.clone()),
            requests_per_minute: self.requests_per_minute.or(like.requests_per_minute),
            mib_per_minute: self.mib_per_minute.or(like.mib_per_minute),
            tokens_per_day: self.tokens_per_day.or(like.tokens_per_day),
            usd_per_day: self.usd_per_day.or(like.usd_per_day),
        })
    }
}

impl CallerLimits {
    /// Returns `true` if the caller may use a model.
    pub(crate) fn allows(&self, model: Option<&str>) -> bool {
        let Some(models) = &self.models else { return true };
        model.is_some_and(|model| photic::profile::specificity(models, model).is_some())
    }

    /// Returns `true` if what a turn costs must be known.
    pub(crate) const fn meters_turns(&self) -> bool {
        self.tokens_per_day.is_some() || self.usd_per_day.is_some()
    }
}

/// A new key of a caller. It is shown once; only its digest is kept.
#[derive(Debug)]
pub struct NewCallerKey {
    /// The key.
    pub key: String,
    /// The digest of the key, as the file of callers has it.
    pub digest: String,
}

impl NewCallerKey {
    /// Makes a key for a caller. Returns `None` if the name cannot be one, or if the system has no
    /// randomness.
    pub fn new(name: &str) -> Option<Self> {
        use base64::Engine as _;
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).ok()?;
        let secret = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(secret);
        let key = is_name(name).then(|| format!("pk_{name}_{secret}"))?;
        let digest = format!("{ALGORITHM}{}", digest(&key).to_hex());
        Some(Self { key, digest })
    }
}

/// Returns the tenant under whose name lessons and cached images of a caller are kept.
pub(super) fn owner(name: &str) -> Tenant {
    Tenant::new(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_is_found_by_its_digest() {
        let NewCallerKey { key, digest: line } = NewCallerKey::new("ci").unwrap();
        assert!(key.starts_with("pk_ci_") && key.len() > 45, "{key}");
        let file = format!("[[caller]]\nname = 'ci'\ndigest = '{line}'\ntokens_per_day = 5");
        let callers = parse(&file).unwrap();
        assert_eq!(callers[0].digest, Some(digest(&key)));
        assert_eq!(callers[0].limits.tokens_per_day, Some(5));
        assert_ne!(NewCallerKey::new("ci").unwrap().key, key);
        assert!(NewCallerKey::new("two words").is_none() && NewCallerKey::new("").is_none());
    }

    #[test]
    fn wrong_entries_are_named() {
        for (file, says) in [
            ("[[caller]]\nname = 'a b'", "unlike `a b`"),
            ("[[caller]]\ndigest = 'sha256:00'", "the name of a caller"),
            ("[[caller]]\nname = 'a'\ndigest = 'sha256:00'", "caller `a`: `digest`"),
            ("[[caller]]\nname = 'a'\nmodels = []", "caller `a`: `models` is empty"),
            ("[[caller]]\nname = 'a'\nusd_per_day = -1.0", "no amount of money"),
            ("[[caller]]\nname = 'a'\ntoken_per_day = 1", "unknown field"),
            ("[[caller]]\nname = 'a'\n[[caller]]\nname = 'a'", "two entries are named `a`"),
        ] {
            let error = parse(file).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn models_are_allowed_by_glob() {
        let models = Some(vec!["gpt-5*".to_owned(), "claude-*".to_owned()]);
        let limits = CallerLimits { models, ..CallerLimits::default() };
        assert!(limits.allows(Some("gpt-5.6")) && limits.allows(Some("claude-sonnet-5")));
        assert!(!limits.allows(Some("gpt-4o")) && !limits.allows(None));
        assert!(CallerLimits::default().allows(None));
    }
}

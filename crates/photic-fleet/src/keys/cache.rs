//! Caches the tenants of keys for a moment, so that not every request needs the database.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use photic_store::{Error, Tenant};

use super::{ApiKey, Keys};

/// Lifetime of a cached answer. A revoked key may be accepted for this long.
const CACHE_LIFETIME: Duration = Duration::from_secs(20);
/// Extended lifetime while the database is unavailable, so that its restart does not lock out
/// callers.
const OUTAGE_LIFETIME: Duration = Duration::from_mins(15);
/// Largest number of cached answers.
const MAX_CACHED_KEYS: usize = 10_000;

/// Authenticates tenants by their keys.
#[derive(Debug)]
pub struct KeyCache<K> {
    keys: K,
    /// Valid keys by full name and hash. Only valid ones are cached, so guesses cannot fill the
    /// cache and a new key works at once.
    good: Mutex<Good>,
}

/// The tenant of a key, and the end of its lifetime in the cache.
type Good = BTreeMap<(String, [u8; 32]), (Tenant, Instant)>;

impl<K: Keys> KeyCache<K> {
    /// Creates a gate for these keys.
    pub const fn new(keys: K) -> Self {
        Self { keys, good: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the tenant of a key; `None` for any invalid text.
    pub async fn tenant(&self, text: &str) -> Result<Option<Tenant>, Error> {
        self.tenant_at(text, Instant::now()).await
    }

    async fn tenant_at(&self, text: &str, now: Instant) -> Result<Option<Tenant>, Error> {
        let Ok(key) = text.parse::<ApiKey>() else { return Ok(None) };
        let name = (key.id().as_str().to_owned(), *key.hash().as_bytes());
        let known = self.good().get(&name).cloned();
        if let Some((tenant, _)) = known.as_ref().filter(|(_, until)| now < *until) {
            return Ok(Some(tenant.clone()));
        }
        let found = match self.keys.tenant_of(&key).await {
            Err(Error::Unavailable(away)) => {
                let lately = known.filter(|(_, until)| now < *until + OUTAGE_LIFETIME);
                return lately.map(|(tenant, _)| Some(tenant)).ok_or(Error::Unavailable(away));
            }
            answer => answer?,
        };
        let mut good = self.good();
        match &found {
            Some(tenant) => {
                if good.len() >= MAX_CACHED_KEYS {
                    good.retain(|_, (_, until)| now < *until);
                }
                if good.len() < MAX_CACHED_KEYS {
                    good.insert(name, (tenant.clone(), now + CACHE_LIFETIME));
                }
            }
            None => drop(good.remove(&name)),
        }
        Ok(found)
    }

    fn good(&self) -> MutexGuard<'_, Good> {
        self.good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use photic_store::wait;

    use super::*;
    use crate::keys::{KeyFacts, KeyId};

    /// Keys with a single key that can be revoked.
    struct SingleKey {
        key: Mutex<Option<ApiKey>>,
        asked: AtomicUsize,
        away: AtomicBool,
    }

    impl SingleKey {
        fn knowing(key: ApiKey) -> Self {
            let key = Mutex::new(Some(key));
            Self { key, asked: AtomicUsize::new(0), away: AtomicBool::new(false) }
        }
    }

    impl Keys for &SingleKey {
        async fn issue_key(
            &self,
            _: &Tenant,
            _: &str,
            _: Option<Duration>,
        ) -> Result<ApiKey, Error> {
            ApiKey::random()
        }

        async fn rotate_key(
            &self,
            _: &Tenant,
            _: &KeyId,
            _: Duration,
        ) -> Result<Option<ApiKey>, Error> {
            Ok(None)
        }

        async fn revoke_key(&self, _: &Tenant, _: &KeyId) -> Result<bool, Error> {
            Ok(self.key.lock().unwrap().take().is_some())
        }

        async fn keys(&self, _: &Tenant) -> Result<Vec<KeyFacts>, Error> {
            Ok(Vec::new())
        }

        async fn tenant_of(&self, key: &ApiKey) -> Result<Option<Tenant>, Error> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.away.load(Ordering::Relaxed) {
                return Err(Error::Unavailable("gone".into()));
            }
            let known = self.key.lock().unwrap();
            let is_it = known.as_ref().is_some_and(|known| known.hash() == key.hash());
            Ok(is_it.then(|| Tenant::new("acme")))
        }
    }

    #[test]
    fn a_key_is_asked_about_once_in_a_while_and_a_revoked_one_opens_no_longer() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        let one = SingleKey::knowing(key);
        let gate = KeyCache::new(&one);
        let start = Instant::now();
        for _ in 0..5 {
            assert_eq!(wait(gate.tenant_at(&text, start)).unwrap(), Some(Tenant::new("acme")));
        }
        assert_eq!(one.asked.load(Ordering::Relaxed), 1);
        let acme = Tenant::new("acme");
        let id: KeyId = text[3..15].parse().unwrap();
        assert!(wait((&one).revoke_key(&acme, &id)).unwrap());
        assert!(wait(gate.tenant_at(&text, start + CACHE_LIFETIME)).unwrap().is_none());
        assert!(wait(gate.tenant_at(&text, start)).unwrap().is_none(), "it was forgotten");
    }

    #[test]
    fn while_nobody_can_be_asked_whoever_was_let_in_lately_still_is() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        let one = SingleKey::knowing(key);
        let gate = KeyCache::new(&one);
        let start = Instant::now();
        wait(gate.tenant_at(&text, start)).unwrap().unwrap();
        one.away.store(true, Ordering::Relaxed);
        let later = start + CACHE_LIFETIME + Duration::from_secs(1);
        assert_eq!(wait(gate.tenant_at(&text, later)).unwrap(), Some(Tenant::new("acme")));
        let other = ApiKey::random().unwrap().reveal();
        assert!(wait(gate.tenant_at(&other, later)).is_err(), "nobody knows it");
        let much_later = later + OUTAGE_LIFETIME;
        assert!(wait(gate.tenant_at(&text, much_later)).is_err());
        one.away.store(false, Ordering::Relaxed);
        wait(gate.tenant_at(&text, much_later)).unwrap().unwrap();
    }

    #[test]
    fn no_part_of_a_key_opens_and_guesses_are_not_remembered() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        let one = SingleKey::knowing(key);
        let gate = KeyCache::new(&one);
        wait(gate.tenant(&text)).unwrap().unwrap();
        // The same name and beginning of the secret.
        let guess = format!("{}{}", &text[..40], &ApiKey::random().unwrap().reveal()[40..]);
        assert!(wait(gate.tenant(&guess)).unwrap().is_none());
        assert!(wait(gate.tenant("pk_no")).unwrap().is_none());
        assert_eq!(gate.good().len(), 1);
    }
}

//! Who may come in, remembered for a moment: a database that is asked about every request is the
//! first to be away.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use photic_store::{Error, Tenant};

use super::{ApiKey, Keys};

/// How long an answer counts: as long as a revoked key may still open.
const REMEMBERED: Duration = Duration::from_secs(20);
/// How long it counts while nobody can be asked: callers whose provider answers are not shut out
/// because our database restarts.
const WHILE_AWAY: Duration = Duration::from_mins(15);
/// Most answers that are remembered.
const MOST: usize = 10_000;

/// Lets tenants in by their keys.
#[derive(Debug)]
pub struct Gate<K> {
    keys: K,
    /// By name and hash, whole: a part of a key is not a key. Only good ones are remembered, so
    /// nobody can fill this with guesses, and a new key works at once.
    good: Mutex<Good>,
}

/// Whose keys they are, and until when that counts.
type Good = BTreeMap<(String, [u8; 32]), (Tenant, Instant)>;

impl<K: Keys> Gate<K> {
    /// Lets in whoever has one of these keys.
    pub const fn new(keys: K) -> Self {
        Self { keys, good: Mutex::new(BTreeMap::new()) }
    }

    /// Whose key it is; `None` for any other text, whatever is wrong with it.
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
                let lately = known.filter(|(_, until)| now < *until + WHILE_AWAY);
                return lately.map(|(tenant, _)| Some(tenant)).ok_or(Error::Unavailable(away));
            }
            answer => answer?,
        };
        let mut good = self.good();
        match &found {
            Some(tenant) => {
                if good.len() >= MOST {
                    good.retain(|_, (_, until)| now < *until);
                }
                if good.len() < MOST {
                    good.insert(name, (tenant.clone(), now + REMEMBERED));
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

    /// Knows one key, until it is told not to.
    struct One {
        key: Mutex<Option<ApiKey>>,
        asked: AtomicUsize,
        away: AtomicBool,
    }

    impl One {
        fn knowing(key: ApiKey) -> Self {
            let key = Mutex::new(Some(key));
            Self { key, asked: AtomicUsize::new(0), away: AtomicBool::new(false) }
        }
    }

    impl Keys for &One {
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
        let one = One::knowing(key);
        let gate = Gate::new(&one);
        let start = Instant::now();
        for _ in 0..5 {
            assert_eq!(wait(gate.tenant_at(&text, start)).unwrap(), Some(Tenant::new("acme")));
        }
        assert_eq!(one.asked.load(Ordering::Relaxed), 1);
        let acme = Tenant::new("acme");
        let id: KeyId = text[3..15].parse().unwrap();
        assert!(wait((&one).revoke_key(&acme, &id)).unwrap());
        assert!(wait(gate.tenant_at(&text, start + REMEMBERED)).unwrap().is_none());
        assert!(wait(gate.tenant_at(&text, start)).unwrap().is_none(), "it was forgotten");
    }

    #[test]
    fn while_nobody_can_be_asked_whoever_was_let_in_lately_still_is() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        let one = One::knowing(key);
        let gate = Gate::new(&one);
        let start = Instant::now();
        wait(gate.tenant_at(&text, start)).unwrap().unwrap();
        one.away.store(true, Ordering::Relaxed);
        let later = start + REMEMBERED + Duration::from_secs(1);
        assert_eq!(wait(gate.tenant_at(&text, later)).unwrap(), Some(Tenant::new("acme")));
        let other = ApiKey::random().unwrap().reveal();
        assert!(wait(gate.tenant_at(&other, later)).is_err(), "nobody knows it");
        let much_later = later + WHILE_AWAY;
        assert!(wait(gate.tenant_at(&text, much_later)).is_err());
        one.away.store(false, Ordering::Relaxed);
        wait(gate.tenant_at(&text, much_later)).unwrap().unwrap();
    }

    #[test]
    fn no_part_of_a_key_opens_and_guesses_are_not_remembered() {
        let key = ApiKey::random().unwrap();
        let text = key.reveal();
        let one = One::knowing(key);
        let gate = Gate::new(&one);
        wait(gate.tenant(&text)).unwrap().unwrap();
        // The same name and the same beginning of the secret.
        let guess = format!("{}{}", &text[..40], &ApiKey::random().unwrap().reveal()[40..]);
        assert!(wait(gate.tenant(&guess)).unwrap().is_none());
        assert!(wait(gate.tenant("pk_no")).unwrap().is_none());
        assert_eq!(gate.good().len(), 1);
    }
}

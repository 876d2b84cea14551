//! Objects of openwop's blob surface, in memory.
//!
//! Only the conformance suite uses the surface, so its objects are lost with the process. A tenant
//! cannot reach the objects of another.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use photic_openwop::{
    HostError, Media, ObjectEntry, ObjectKey, ObjectPage, PresignedContent, PresignedUrl,
};
use photic_store::{Error, MediaRef, Secret, Tenant};

/// Seconds after which a caller may retry, unless a quota says another time.
pub(super) const RETRY_AFTER_S: u32 = 60;
/// Maximum size of an object.
pub(super) const MAX_OBJECT_BYTES: usize = 64 << 10;
/// Maximum number of objects of a tenant.
const MAX_OBJECTS: usize = 256;
/// Number of objects in a page of a list.
const PAGE_SIZE: usize = 100;
/// Context of the signature, so that signatures for other purposes differ.
const PURPOSE: &str = "an address that shows an object";

/// The tenant and the key of an object.
type Name = (String, ObjectKey);

/// Objects of all tenants.
#[derive(Debug)]
pub(crate) struct Objects {
    secret: Secret,
    stored: Mutex<BTreeMap<Name, Media>>,
}

impl Objects {
    /// Creates an empty set of objects, with a random secret for their signed URLs.
    pub(crate) fn new() -> Result<Self, Error> {
        let random = MediaRef::random()?;
        let secret = Secret::from(*blake3::hash(random.as_str().as_bytes()).as_bytes());
        Ok(Self { secret, stored: Mutex::default() })
    }

    /// Stores an object. Fails if the tenant has too many.
    pub(super) fn put(
        &self,
        tenant: &Tenant,
        place: &ObjectKey,
        media: Media,
    ) -> Result<(), HostError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let own = stored.keys().filter(|(owner, _)| owner == tenant.as_str()).count();
        if own >= MAX_OBJECTS && !stored.contains_key(&name(tenant, place)) {
            return Err(HostError::Quota { retry_after_s: RETRY_AFTER_S });
        }
        stored.insert(name(tenant, place), media);
        Ok(())
    }

    /// Returns an object.
    pub(super) fn get(&self, tenant: &Tenant, place: &ObjectKey) -> Option<Media> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.get(&name(tenant, place)).cloned()
    }

    /// Removes an object. Returns `true` if there was one.
    pub(super) fn remove(&self, tenant: &Tenant, place: &ObjectKey) -> bool {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.remove(&name(tenant, place)).is_some()
    }

    /// Lists the objects whose key begins like `beginning`, one page after the key `after`.
    pub(super) fn list(
        &self,
        tenant: &Tenant,
        beginning: &ObjectKey,
        after: Option<&str>,
    ) -> ObjectPage {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let start = match after.filter(|after| *after >= beginning.key.as_str()) {
            Some(after) => Bound::Excluded(name(
                tenant,
                &ObjectKey { key: after.to_owned(), ..beginning.clone() },
            )),
            None => Bound::Included(name(tenant, beginning)),
        };
        let inside = |(owner, place): &Name| {
            owner == tenant.as_str()
                && place.space == beginning.space
                && place.bucket == beginning.bucket
                && place.key.starts_with(&beginning.key)
        };
        let mut found =
            stored.range((start, Bound::Unbounded)).take_while(|(name, _)| inside(name));
        let entry = |((_, place), media): (&Name, &Media)| ObjectEntry {
            key: place.key.clone(),
            bytes: media.bytes.len() as u64,
        };
        let entries = found.by_ref().take(PAGE_SIZE).map(entry).collect();
        ObjectPage { entries, more: found.next().is_some() }
    }

    /// Signs a URL that shows an object. Returns `None` if there is no such object.
    pub(super) fn sign(
        &self,
        tenant: &Tenant,
        place: &ObjectKey,
        expires_ms: u64,
    ) -> Option<PresignedUrl> {
        self.get(tenant, place)?;
        let ObjectKey { space, bucket, key } = place;
        let claim = serde_json::json!([tenant.as_str(), space, bucket, key, expires_ms]);
        let claim = URL_SAFE_NO_PAD.encode(claim.to_string());
        let signature = self.secret.sign(PURPOSE, &claim).to_hex();
        Some(PresignedUrl { token: format!("{claim}.{signature}"), expires_ms })
    }

    /// Returns the object of a signed URL. It is refused if the URL is forged or has expired, or if the
    /// object is gone.
    pub(super) fn shown(&self, token: &str, now: u64) -> PresignedContent {
        self.claimed(token, now).map_or(PresignedContent::Refused, PresignedContent::Media)
    }

    fn claimed(&self, token: &str, now: u64) -> Option<Media> {
        let (claim, signature) = token.split_once('.')?;
        let signature = blake3::Hash::from_hex(signature).ok()?;
        // Hashes of this kind are compared in constant time.
        if signature != self.secret.sign(PURPOSE, claim) {
            return None;
        }
        let claim = URL_SAFE_NO_PAD.decode(claim).ok()?;
        let (tenant, space, bucket, key, expires_ms): (String, String, String, String, u64) =
            serde_json::from_slice(&claim).ok()?;
        let place = ObjectKey { space, bucket, key };
        (now < expires_ms).then(|| self.get(&Tenant::new(tenant), &place)).flatten()
    }
}

fn name(tenant: &Tenant, place: &ObjectKey) -> Name {
    (tenant.as_str().to_owned(), place.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(key: &str) -> ObjectKey {
        ObjectKey { space: "s".to_owned(), bucket: "b".to_owned(), key: key.to_owned() }
    }

    fn media() -> Media {
        Media { media_type: "text/plain".to_owned(), bytes: "x".into() }
    }

    #[test]
    fn lists_go_on_where_they_ended_and_end_where_the_name_does() {
        let (objects, tenant) = (Objects::new().unwrap(), Tenant::new("a"));
        for at in 0..=PAGE_SIZE {
            objects.put(&tenant, &place(&format!("p/{at:03}")), media()).unwrap();
        }
        objects.put(&tenant, &place("q"), media()).unwrap();
        objects.put(&Tenant::new("b"), &place("p/999"), media()).unwrap();
        let first = objects.list(&tenant, &place("p/"), None);
        assert_eq!((first.entries.len(), first.more), (PAGE_SIZE, true));
        let last = first.entries.last().map(|entry| entry.key.as_str());
        let rest = objects.list(&tenant, &place("p/"), last);
        assert_eq!((rest.entries.len(), rest.more), (1, false));
        assert!(objects.list(&tenant, &place("r"), None).entries.is_empty());
        // A cursor of another list stays within this one.
        assert_eq!(objects.list(&tenant, &place("q"), Some("p/")).entries.len(), 1);
    }

    #[test]
    fn a_tenant_has_room_for_so_many_and_takes_none_from_others() {
        let (objects, tenant) = (Objects::new().unwrap(), Tenant::new("a"));
        for at in 0..MAX_OBJECTS {
            objects.put(&tenant, &place(&at.to_string()), media()).unwrap();
        }
        assert!(objects.put(&tenant, &place("more"), media()).is_err());
        objects.put(&tenant, &place("0"), media()).unwrap();
        objects.put(&Tenant::new("b"), &place("more"), media()).unwrap();
    }

    #[test]
    fn an_address_holds_for_its_time_and_as_it_was_signed() {
        let (objects, tenant) = (Objects::new().unwrap(), Tenant::new("a"));
        objects.put(&tenant, &place("k"), media()).unwrap();
        let token = objects.sign(&tenant, &place("k"), 1000).unwrap().token;
        assert_eq!(objects.shown(&token, 999), PresignedContent::Media(media()));
        assert_eq!(objects.shown(&token, 1000), PresignedContent::Refused);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(objects.shown(&changed, 999), PresignedContent::Refused, "{changed}");
        }
        assert_eq!(Objects::new().unwrap().shown(&token, 999), PresignedContent::Refused);
        objects.remove(&tenant, &place("k"));
        assert_eq!(objects.shown(&token, 999), PresignedContent::Refused);
        assert_eq!(objects.sign(&tenant, &place("k"), 1000), None);
    }
}

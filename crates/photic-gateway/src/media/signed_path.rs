//! Signed paths that show an image for a while without a key.
//!
//! They are signed with a secret of the tenant. A path that was changed or has expired is refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use photic_store::{MediaRef, Secret, Tenant};

/// Beginning of signed paths.
pub(crate) const SHOWN: &str = "/photic/v1/shown/";
/// Maximum lifetime of a signed path.
pub(crate) const MAX_LIFETIME: Duration = Duration::from_mins(15);
/// Context of the signature, so that signatures for other purposes differ.
const PURPOSE: &str = "an address that shows a picture";

/// The content of a signed path whose signature is not checked yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) tenant: Tenant,
    pub(super) name: MediaRef,
    /// Milliseconds since 1970.
    pub(super) expires: u64,
    signature: String,
}

/// Returns the signed path of an image, valid until a time.
pub(super) fn path(secret: &Secret, tenant: &Tenant, name: &MediaRef, expires: u64) -> String {
    let claim = claimed(tenant, name, expires);
    format!("{SHOWN}{claim}.{}", secret.sign(PURPOSE, &claim).to_hex())
}

impl Claim {
    /// Parses a signed path. Returns `None` if it is malformed.
    pub(super) fn read(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix(SHOWN)?.split('.');
        let (tenant, name, expires, signature) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let tenant = String::from_utf8(URL_SAFE_NO_PAD.decode(tenant).ok()?).ok()?;
        Some(Self {
            tenant: Tenant::new(tenant),
            name: name.parse().ok()?,
            expires: expires.parse().ok()?,
            signature: signature.to_owned(),
        })
    }

    /// Returns `true` if the signature is valid and the path has not expired.
    pub(super) fn holds(&self, secret: &Secret, now: u64) -> bool {
        let claim = claimed(&self.tenant, &self.name, self.expires);
        let signature = blake3::Hash::from_hex(&self.signature);
        // Hashes of this kind are compared in constant time.
        now < self.expires && signature.is_ok_and(|one| one == secret.sign(PURPOSE, &claim))
    }
}

fn claimed(tenant: &Tenant, name: &MediaRef, expires: u64) -> String {
    format!("{}.{}.{expires}", URL_SAFE_NO_PAD.encode(tenant.as_str()), name.as_str())
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_for_its_time_and_as_it_was_written() {
        let (secret, other) = (Secret::from([7; 32]), Secret::from([8; 32]));
        let (tenant, name) = (Tenant::new("acme"), MediaRef::random().unwrap());
        let path = path(&secret, &tenant, &name, 1000);
        let claim = Claim::read(&path).unwrap();
        assert_eq!((&claim.tenant, &claim.name, claim.expires), (&tenant, &name, 1000));
        assert!(claim.holds(&secret, 999));
        assert!(!claim.holds(&secret, 1000) && !claim.holds(&other, 999));
        for at in SHOWN.len()..path.len() {
            let mut changed = path.clone().into_bytes();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(changed).unwrap();
            let holds = Claim::read(&changed).is_some_and(|claim| claim.holds(&secret, 999));
            assert!(!holds, "{changed}");
        }
    }
}

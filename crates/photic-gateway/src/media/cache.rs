//! Cache of `photic:` references and of the bytes that they refer to.
//!
//! A conversation is planned with the stubs of its images, and only the bytes of shown images are
//! read. While the model answers, the gateway holds nothing but the references.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use photic::media::Payload;
use photic::transcript::MediaId;
use photic::{FetchResult, Plan, Reason, Transcript};
use photic_store::{BlobError, BlobId, MediaRecord, MediaRef, Tenant};

use crate::http::Failure;
use crate::memory::{self, Charge, Key, LruCache, Share, Use, Weighed};
use crate::record::{Named, StoreBackend};
use crate::tenant::Identity;

/// Time for which a reference is cached. A deleted reference still works as long on other gateways.
const REFERENCE_LIFETIME: Duration = Duration::from_secs(20);
/// Number of images that are read at once for one request.
const AT_ONCE: usize = 8;
/// Bytes that are charged for a picture before its size is known.
const EXPECTED_BYTES: u64 = 4 << 20;

/// Cache of references and of the bytes that they refer to.
#[derive(Debug)]
pub(crate) struct MediaCache {
    names: LruCache<Reference>,
    pictures: LruCache<Picture>,
}

/// The media that a reference refers to.
#[derive(Clone, Debug)]
struct Reference {
    record: Arc<MediaRecord>,
    until: Instant,
}

impl Weighed for Reference {
    fn bytes(&self) -> usize {
        self.record.memory.head.len()
    }
}

/// The bytes of an image, as base64.
#[derive(Clone, Debug)]
struct Picture(Arc<Payload<'static>>);

impl Weighed for Picture {
    fn bytes(&self) -> usize {
        self.0.base64().len()
    }
}

/// The bytes of media that a request contains as references.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    found: BTreeMap<BlobId, Arc<Payload<'static>>>,
    /// Set if something could not be read because the storage is unavailable.
    pub(crate) away: bool,
}

impl MediaCache {
    /// Creates a cache for so many bytes of images, and of references.
    pub(crate) const fn new(max_bytes: usize, names: usize) -> Self {
        Self { names: LruCache::new(names), pictures: LruCache::new(max_bytes) }
    }

    /// Looks up references of a tenant. Malformed and unknown references are left out.
    ///
    /// # Errors
    ///
    /// Fails if the storage is unavailable.
    pub(crate) async fn look_up(
        &self,
        backend: &Arc<dyn StoreBackend>,
        tenant: &Tenant,
        names: BTreeSet<String>,
    ) -> Result<BTreeMap<String, Arc<MediaRecord>>, Failure> {
        let mut found = BTreeMap::new();
        let mut unknown: Vec<MediaRef> = Vec::new();
        let now = Instant::now();
        for name in names {
            let known = self.names.get(&key(tenant, &name)).filter(|known| now < known.until);
            match known {
                Some(known) => drop(found.insert(name, known.record)),
                None => unknown.extend(name.parse::<MediaRef>().ok()),
            }
        }
        if !unknown.is_empty() {
            let record = backend.media(tenant, &unknown).await;
            let record = record.map_err(|_| Failure::StoreAway)?;
            for (name, record) in record {
                let (name, record) = (name.as_str().to_owned(), Arc::new(record));
                let known =
                    Reference { record: Arc::clone(&record), until: now + REFERENCE_LIFETIME };
                self.names.put(key(tenant, &name), known);
                found.insert(name, record);
            }
        }
        Ok(found)
    }

    /// Removes a reference from this cache.
    pub(super) fn forget(&self, tenant: &Tenant, name: &MediaRef) {
        self.names.remove(&key(tenant, name.as_str()));
    }

    /// Returns the cached bytes of a tenant's blobs, and the blobs that are not cached. The caller
    /// must have a reference to each.
    pub(crate) fn at_hand(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> (Pictures, Vec<BlobId>) {
        let (mut pictures, mut missing) = (Pictures::default(), Vec::new());
        for &blob in blobs {
            // Tenants share nothing, not even cached bytes.
            match self.pictures.get(&key(tenant, &blob.to_string())) {
                Some(Picture(payload)) => drop(pictures.found.insert(blob, payload)),
                None => missing.push(blob),
            }
        }
        (pictures, missing)
    }

    /// Returns the bytes of a tenant's blobs, and reads those that are not cached. Their memory is
    /// charged to a share.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory for them.
    pub(crate) async fn read(
        &self,
        backend: &Arc<dyn StoreBackend>,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
        share: &Share,
    ) -> Result<(Pictures, Vec<Charge>), Failure> {
        let (mut pictures, missing) = self.at_hand(tenant, blobs);
        let mut charges = Vec::new();
        for payload in pictures.found.values() {
            charges.push(share.charge(Use::Fetched, payload.base64().len() as u64).await?);
        }
        let mut reads = tokio::task::JoinSet::new();
        let mut missing = missing.into_iter();
        loop {
            while reads.len() < AT_ONCE
                && let Some(blob) = missing.next()
            {
                let (backend, tenant) = (Arc::clone(backend), tenant.clone());
                let charge = share.charge(Use::Fetched, EXPECTED_BYTES).await?;
                reads.spawn(async move { (blob, backend.read(&tenant, &blob).await, charge) });
            }
            let Some(read) = reads.join_next().await else { break };
            match read {
                Ok((blob, Ok(bytes), mut charge)) => {
                    // Held as base64, and once more in the request that contains it.
                    let size = bytes.len().div_ceil(3) as u64 * 8;
                    charge.reach(size).await?;
                    charge.shrink_to(size);
                    charges.push(charge);
                    let payload = Arc::new(Payload::encode(&bytes));
                    let key = key(tenant, &blob.to_string());
                    self.pictures.put(key, Picture(Arc::clone(&payload)));
                    pictures.found.insert(blob, payload);
                }
                // The model gets a notice if a blob is missing or damaged.
                Ok((_, Err(BlobError::Absent(_) | BlobError::Damaged(_)), _)) => {}
                Ok((_, Err(_), _)) | Err(_) => pictures.away = true,
            }
        }
        Ok((pictures, charges))
    }
}

/// Returns the blobs of references whose images the plan shows.
pub(crate) fn wanted(named: &Named<'_>, plan: &Plan<'_>) -> BTreeSet<BlobId> {
    shown(named, plan).map(|(_, blob)| blob).collect()
}

fn shown(named: &Named<'_>, plan: &Plan<'_>) -> impl Iterator<Item = (MediaId, BlobId)> {
    let is_shown = |id: MediaId| {
        let on_sheet =
            matches!(plan.fates.get(id.index()), Some(photic::Fate::Elide(Reason::OnSheet)));
        on_sheet || plan.fates.get(id.index()).is_some_and(|fate| fate.is_shown())
    };
    let each = named.iter().filter(move |(id, _)| is_shown(**id));
    each.map(|(id, memory)| (*id, BlobId::from(memory.digest)))
}

impl Pictures {
    /// Replaces the stubs of shown media by their bytes, and withholds media that could not be read.
    /// Returns `true` if the plan is still valid.
    pub(crate) fn put_into<'a>(
        &'a self,
        transcript: &mut Transcript<'a>,
        named: &Named<'_>,
        plan: &Plan<'_>,
    ) -> bool {
        let mut holds = true;
        for (id, blob) in shown(named, plan) {
            let found = self.found.get(&blob).map(|payload| FetchResult::Bytes(payload.by_ref()));
            holds &= found.is_some();
            transcript.put_fetched(id, found.unwrap_or(FetchResult::Withheld(Reason::FetchFailed)));
        }
        holds
    }
}

fn key(tenant: &Tenant, name: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    memory::key_of(Identity::Tenant(tenant.clone()).digest(), hasher)
}

//! Cache of `photic:` references and of the bytes they stand for.
//!
//! A conversation is planned from the stubs of its pictures, and bytes are read only of those that
//! are shown. While the model answers, nothing is held but the references.

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
/// Pictures that are read at once for one request.
const AT_ONCE: usize = 8;
/// Bytes that are charged for a picture before its size is known.
const EXPECTED_BYTES: u64 = 4 << 20;

/// Cache of references and of the bytes they stand for.
#[derive(Debug)]
pub(crate) struct MediaCache {
    names: LruCache<Reference>,
    pictures: LruCache<Picture>,
}

/// The media that a reference stands for.
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

#[derive(Clone, Debug)]
struct Picture(Arc<Payload<'static>>);

impl Weighed for Picture {
    fn bytes(&self) -> usize {
        self.0.base64().len()
    }
}

/// Bytes of media that came by name.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    found: BTreeMap<BlobId, Arc<Payload<'static>>>,
    /// Whether something could not be read because its server is away.
    pub(crate) away: bool,
}

impl MediaCache {
    /// Room for so many bytes of pictures, and of names.
    pub(crate) const fn new(most: usize, names: usize) -> Self {
        Self { names: LruCache::new(names), pictures: LruCache::new(most) }
    }

    /// What names mean to a tenant; what is no name, or means nothing, is left out.
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

    /// Forgets what a name means, here.
    pub(super) fn forget(&self, tenant: &Tenant, name: &MediaRef) {
        self.names.remove(&key(tenant, name.as_str()));
    }

    /// The bytes of blobs of a tenant that are here, and which are not. Who asks has a name for each.
    pub(crate) fn at_hand(
        &self,
        tenant: &Tenant,
        blobs: &BTreeSet<BlobId>,
    ) -> (Pictures, Vec<BlobId>) {
        let (mut pictures, mut missing) = (Pictures::default(), Vec::new());
        for &blob in blobs {
            // Tenants share nothing, not even what was read for another.
            match self.pictures.get(&key(tenant, &blob.to_string())) {
                Some(Picture(payload)) => drop(pictures.found.insert(blob, payload)),
                None => missing.push(blob),
            }
        }
        (pictures, missing)
    }

    /// The same, and those that are not are read.
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
                    // As base64, and once more in the request that is written with it.
                    let size = bytes.len().div_ceil(3) as u64 * 8;
                    charge.reach(size).await?;
                    charge.shrink_to(size);
                    charges.push(charge);
                    let payload = Arc::new(Payload::encode(&bytes));
                    let key = key(tenant, &blob.to_string());
                    self.pictures.put(key, Picture(Arc::clone(&payload)));
                    pictures.found.insert(blob, payload);
                }
                // What is gone, or is not what it was, is told to the model.
                Ok((_, Err(BlobError::Absent(_) | BlobError::Damaged(_)), _)) => {}
                Ok((_, Err(_), _)) | Err(_) => pictures.away = true,
            }
        }
        Ok((pictures, charges))
    }
}

/// The blobs of media that came by name and are shown.
pub(crate) fn wanted(named: &Named<'_>, plan: &Plan<'_>) -> BTreeSet<BlobId> {
    shown(named, plan).map(|(_, blob)| blob).collect()
}

fn shown(named: &Named<'_>, plan: &Plan<'_>) -> impl Iterator<Item = (MediaId, BlobId)> {
    let is_shown = |id: MediaId| {
        let on_sheet = matches!(plan.fates.get(id), Some(photic::Fate::Elide(Reason::OnSheet)));
        on_sheet || plan.fates.get(id).is_some_and(|fate| fate.is_shown())
    };
    let each = named.iter().filter(move |(id, _)| is_shown(**id));
    each.map(|(id, memory)| (*id, BlobId::from(memory.digest)))
}

impl Pictures {
    /// Puts bytes where stand-ins are that would be shown; what could not be read is withheld.
    /// Whether the plan still holds.
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

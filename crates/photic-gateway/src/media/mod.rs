//! What tenants uploaded: a picture is sent once, and from then on its name stands in every turn
//! where its bytes would.
//!
//! A conversation is planned from what is remembered of its pictures; bytes are read only of those
//! that are shown. While the model thinks, nothing is held but the names.

mod address;
mod door;
mod uploads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use photic::media::Payload;
use photic::transcript::MediaId;
use photic::{FetchResult, MediaStub, Plan, Reason, Transcript};
use photic_store::{BlobError, BlobId, Blobs, Error, Media as _, MediaRecord, MediaRef, Tenant};

pub(crate) use address::now;
pub(crate) use door::{answer, forget, keep};

use crate::failure::Failure;
use crate::identity::Identity;
use crate::memory::{Charge, Share, Use};
use crate::recent::{self, Key, LruCache, Weighed};
use crate::record::{SessionContext, StoreBackend};

/// How long what a name means is taken for known: as long as one that was taken back still works.
const KNOWN: Duration = Duration::from_secs(20);
/// How many pictures are read at once for one request.
const AT_ONCE: usize = 8;
/// What a picture is taken to need before it was read.
const USUAL: u64 = 4 << 20;

/// What was looked up lately.
#[derive(Debug)]
pub(crate) struct MediaCache {
    names: LruCache<Name>,
    pictures: LruCache<Picture>,
}

/// What a name means.
#[derive(Clone, Debug)]
struct Name {
    minted: Arc<MediaRecord>,
    until: Instant,
}

impl Weighed for Name {
    fn bytes(&self) -> usize {
        self.minted.memory.head.len()
    }
}

#[derive(Clone, Debug)]
struct Picture(Arc<Payload<'static>>);

impl Weighed for Picture {
    fn bytes(&self) -> usize {
        self.0.base64().len()
    }
}

/// Media of a conversation that came by name: what is remembered of each, by its number.
pub(crate) type Named<'m> = BTreeMap<MediaId, &'m MediaStub>;

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
        place: &StoreBackend,
        tenant: &Tenant,
        names: BTreeSet<String>,
    ) -> Result<BTreeMap<String, Arc<MediaRecord>>, Failure> {
        let mut found = BTreeMap::new();
        let mut unknown: Vec<MediaRef> = Vec::new();
        let now = Instant::now();
        for name in names {
            let known = self.names.get(&key(tenant, &name)).filter(|known| now < known.until);
            match known {
                Some(known) => drop(found.insert(name, known.minted)),
                None => unknown.extend(name.parse::<MediaRef>().ok()),
            }
        }
        if !unknown.is_empty() {
            let minted = Box::pin(place.media(tenant, &unknown)).await;
            let minted = minted.map_err(|_| Failure::StoreAway)?;
            for (name, minted) in minted {
                let (name, minted) = (name.as_str().to_owned(), Arc::new(minted));
                let known = Name { minted: Arc::clone(&minted), until: now + KNOWN };
                self.names.put(key(tenant, &name), known);
                found.insert(name, minted);
            }
        }
        Ok(found)
    }

    /// Forgets what a name means, here.
    fn forget(&self, tenant: &Tenant, name: &MediaRef) {
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
        place: &StoreBackend,
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
                let (place, tenant) = (place.clone(), tenant.clone());
                let charge = share.charge(Use::Fetched, USUAL).await?;
                reads.spawn(async move { (blob, place.read(&tenant, &blob).await, charge) });
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

impl SessionContext {
    /// Puts what stands for them where media came by name, and says what is remembered of each.
    pub(crate) fn stand_in<'r>(&'r self, transcript: &mut Transcript<'r>) -> Named<'r> {
        let mut named = Named::new();
        for (id, name) in photic::references(transcript) {
            match self.media.get(&name) {
                Some(minted) => {
                    transcript.put_fetched(id, FetchResult::Bytes(minted.memory.stand_in()));
                    named.insert(id, &minted.memory);
                }
                None => transcript.put_fetched(id, FetchResult::Withheld(Reason::FetchFailed)),
            }
        }
        named
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

impl StoreBackend {
    /// What references mean to a tenant.
    pub(crate) async fn media(
        &self,
        tenant: &Tenant,
        names: &[MediaRef],
    ) -> Result<BTreeMap<MediaRef, MediaRecord>, Error> {
        match self {
            Self::Local(store) => store.record.media(tenant, names).await,
            Self::Fleet(fleet, away) => away.notice(fleet.record.media(tenant, names).await),
        }
    }

    pub(crate) async fn read(&self, tenant: &Tenant, blob: &BlobId) -> Result<Vec<u8>, BlobError> {
        match self {
            Self::Local(store) => {
                let (store, blob) = (Arc::clone(store), *blob);
                let reading = move || photic_store::wait(Blobs::get(&store.blobs, &blob));
                let read = tokio::task::spawn_blocking(reading).await;
                read.unwrap_or_else(|error| Err(std::io::Error::other(error).into()))
            }
            Self::Fleet(fleet, away) => {
                let read = fleet.store(tenant.clone()).blobs.get(blob).await;
                away.notice_blobs(read)
            }
        }
    }
}

fn key(tenant: &Tenant, name: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name.as_bytes());
    recent::key_of(&Identity::Tenant(tenant.clone()), hasher)
}

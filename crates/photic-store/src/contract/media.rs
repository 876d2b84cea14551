//! Contract of media references.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use photic::MediaStub;
use photic::media::Payload;

use super::{ContractViolation, pause, picture, promise};
use crate::blobs::Blobs;
use crate::error::Error;
use crate::handle::{Facts, Tenant};
use crate::media::{MediaRef, NewMedia};
use crate::record::{Record, SessionId};
use crate::store::{GracePeriods, Store};

const HOUR: Duration = Duration::from_hours(1);

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    let (record, ours) = (&store.record, &store.tenant);
    let theirs = Tenant::new("contract-theirs");
    let bytes = picture(120, 2500);
    let blob = store.blobs.put(&bytes).await?;
    let facts = Facts {
        media_type: Some("image/png".into()),
        size: Some((1280, 800)),
        bytes: 2500,
        label: Some("a screen".into()),
    };
    let memory = MediaStub::of(&Payload::encode(&bytes)).ok_or(Error::Damaged("a picture"))?;
    let minting = |lasting, session: Option<&SessionId>| NewMedia {
        blob,
        facts: facts.clone(),
        memory: memory.clone(),
        session: session.cloned(),
        lasting,
    };

    // One picture twice, and once for another tenant.
    let one = record.create_media(ours, &minting(HOUR, None)).await?;
    let two = record.create_media(ours, &minting(HOUR, None)).await?;
    let other = record.create_media(&theirs, &minting(HOUR, None)).await?;
    promise("every reference is another", one != two && two != other && one != other)?;
    let found = record.media(ours, &[one.clone(), two.clone()]).await?;
    promise("all that are asked for are found", found.len() == 2)?;
    let minted = found.get(&one).ok_or(Error::Damaged("a reference"))?;
    promise("a reference leads to its blob", minted.blob == blob)?;
    promise("with all that is known", minted.facts == facts && minted.memory == memory)?;
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_millis() as i64;
    let left = minted.expires - now;
    promise("it ends when it was said to", (3_500_000..3_700_000).contains(&left))?;

    let ended = record.create_media(ours, &minting(Duration::ZERO, None)).await?;
    let random = MediaRef::random()?;
    for (tenant, reference) in [(ours, &ended), (ours, &other), (ours, &random), (&theirs, &one)] {
        let found = record.media(tenant, std::slice::from_ref(reference)).await?;
        promise("what is not one's own, or not any more, is not there", found.is_empty())?;
        promise("nor can it be ended", !record.delete_media(tenant, reference).await?)?;
    }
    promise("nobody in particular has none", {
        record
            .media(&Tenant::new("contract-nobody"), &[one.clone(), other.clone()])
            .await?
            .is_empty()
    })?;
    promise("no question, no answer", record.media(ours, &[]).await? == BTreeMap::new())?;

    // A session takes its references along.
    let id = store.begin("with a reference").await?;
    let with = record.create_media(ours, &minting(HOUR, Some(&id))).await?;
    promise(
        "it holds with its session",
        record.media(ours, std::slice::from_ref(&with)).await?.len() == 1,
    )?;
    store.forget(&id).await?;
    promise("and goes with it", record.media(ours, &[with]).await?.is_empty())?;
    let gone = record.create_media(ours, &minting(HOUR, Some(&id))).await;
    promise("none is minted for one that is gone", matches!(gone, Err(Error::NoSession(_))))?;

    // Nothing else keeps the blob.
    let none = GracePeriods { blobs: Duration::ZERO, handles: Duration::ZERO };
    promise("a reference is ended", record.delete_media(ours, &one).await?)?;
    promise("once", !record.delete_media(ours, &one).await?)?;
    pause();
    store.collect(&none).await?;
    promise("a reference keeps its blob", store.blobs.get(&blob).await? == bytes)?;
    promise("so does any other", record.delete_media(&theirs, &other).await?)?;
    promise("until it is ended", record.delete_media(ours, &two).await?)?;
    store.collect(&none).await?;
    promise("and its blob goes", !store.blobs.has(&blob).await?)
}

//! Contract of garbage collection: everything that is referenced stays, everything else goes.

use std::time::Duration;

use super::{ContractViolation, Conversation, pause, picture, promise};
use crate::blobs::{BlobId, Blobs};
use crate::handle::Facts;
use crate::record::Record;
use crate::store::{GracePeriods, Store};

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    let none = GracePeriods { blobs: Duration::ZERO, handles: Duration::ZERO };
    let shared = picture(80, 2500);
    let (own, other) = (picture(81, 2500), picture(82, 2500));
    let mut ids = Vec::new();
    for mine in [&own, &other] {
        let id = store.begin("collecting").await?;
        let mut talk = Conversation::new("look");
        talk.look(&shared);
        talk.look(mine);
        talk.send(store, &id, 1).await?;
        ids.push(id);
    }
    let stray = store.blobs.put(b"nothing refers to this").await?;
    let asked = store.blobs.put(&picture(83, 2500)).await?;
    let pinned = store.blobs.put(&picture(84, 2500)).await?;
    let facts = Facts { media_type: Some("image/png".into()), ..Facts::default() };
    store.record.issue(&store.tenant, &asked, &facts).await?;
    let handle = store.record.issue(&store.tenant, &pinned, &facts).await?;
    store.record.pin(&store.tenant, &handle).await?;
    // A blob that will be referenced soon.
    store.collect(&GracePeriods::default()).await?;
    promise("what was stored lately stays", store.blobs.has(&stray).await?)?;

    pause();
    let patient = GracePeriods { handles: Duration::from_hours(1), ..none };
    let collected = store.collect(&patient).await?;
    promise("what nothing refers to goes", !store.blobs.has(&stray).await?)?;
    promise("and only that", collected.removed == 1 && collected.removed_bytes == 22)?;
    promise("a handle keeps its blob for a while", store.blobs.has(&asked).await?)?;
    store.collect(&none).await?;
    promise("and not for ever", !store.blobs.has(&asked).await?)?;
    promise("unless it is pinned", store.blobs.has(&pinned).await?)?;
    for id in &ids {
        store.lower(id, 1).await?;
        store.body(id, 1).await?;
    }

    promise("a session is forgotten", store.forget(&ids[0]).await?)?;
    promise("once", !store.forget(&ids[0]).await?)?;
    for (bytes, stays) in [(&own, false), (&shared, true), (&other, true)] {
        let handle = store.name(BlobId::of(bytes).as_bytes()).await?;
        let issued = store.record.resolve(&store.tenant, &handle).await?;
        promise("handles of what it alone held go, and no others", issued.is_some() == stays)?;
    }
    let collected = store.collect(&none).await?;
    promise("its own blob goes", !store.blobs.has(&BlobId::of(&own)).await?)?;
    promise("and no other", collected.removed == 1)?;
    store.lower(&ids[1], 1).await?;
    store.body(&ids[1], 1).await?;
    promise("whatever is left can be read", super::existing(store).await.is_ok())
}

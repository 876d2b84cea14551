//! Contract of blob storage.

use std::time::{Duration, SystemTime};

use super::{ContractViolation, promise};
use crate::blobs::{BlobId, Blobs};
use crate::error::BlobError;

pub(super) async fn suite<B: Blobs>(blobs: &B) -> Result<(), ContractViolation> {
    let mut ids = Vec::new();
    for length in [0_usize, 1, 1000, 300_000] {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + length) as u8).collect();
        let id = blobs.put(&bytes).await?;
        promise("a blob is named by its content", id == BlobId::of(&bytes))?;
        promise("the same bytes have the same name", blobs.put(&bytes).await? == id)?;
        promise("what was put is got", blobs.get(&id).await? == bytes)?;
        promise("its size is known", blobs.size(&id).await? == Some(length as u64))?;
        promise("it is there", blobs.has(&id).await?)?;
        ids.push(id);
    }
    let absent = BlobId::of(b"never put");
    promise("what was never put is not there", !blobs.has(&absent).await?)?;
    let got = blobs.get(&absent).await;
    promise("to get it is an error that says so", matches!(got, Err(BlobError::Absent(_))))?;

    ids.sort();
    let mut listed = Vec::new();
    loop {
        let page = blobs.list(listed.last()).await?;
        if page.is_empty() {
            break;
        }
        listed.extend(page.into_iter().map(|one| one.id));
    }
    promise("each tells all, once, in order", listed == ids)?;

    let absent = blobs.touch(&[ids[0], absent]).await;
    promise("what is not there is not stored again", matches!(absent, Err(BlobError::Absent(_))))?;
    super::pause();
    let since = SystemTime::now();
    blobs.touch(&ids).await?;
    for id in &ids {
        promise("what is stored again counts as stored now", !blobs.remove(id, since).await?)?;
    }

    let past = SystemTime::now() - Duration::from_hours(1);
    let future = SystemTime::now() + Duration::from_hours(1);
    for id in &ids {
        promise("what was stored lately stays", !blobs.remove(id, past).await?)?;
        promise("what was not goes", blobs.remove(id, future).await?)?;
        promise("what went is gone", !blobs.has(id).await?)?;
        promise("and is not removed twice", !blobs.remove(id, future).await?)?;
    }
    Ok(())
}

//! Contract of handles.

use super::{ContractViolation, promise};
use crate::blobs::BlobId;
use crate::handle::{Facts, Handles, Tenant};

pub(super) async fn suite<H: Handles>(handles: &H) -> Result<(), ContractViolation> {
    let (ours, theirs) = (Tenant::new("contract-ours"), Tenant::new("contract-theirs"));
    let blob = BlobId::of(b"a picture of the contract");
    let facts = |label: &str| Facts {
        media_type: Some("image/png".into()),
        size: Some((1280, 800)),
        bytes: 25,
        label: Some(label.into()),
    };
    let handle = handles.issue(&ours, &blob, &facts("one")).await?;
    let again = handles.issue(&ours, &blob, &facts("two")).await?;
    promise("a blob keeps its handle", handle == again)?;
    let issued = handles.resolve(&ours, &handle).await?;
    let issued = issued.as_ref();
    promise("a handle leads to its blob", issued.is_some_and(|one| one.blob == blob))?;
    promise("the newest facts hold", issued.is_some_and(|one| one.facts == facts("two")))?;
    promise("it is not pinned", issued.is_some_and(|one| !one.pinned))?;
    let other = handles.issue(&theirs, &blob, &facts("three")).await?;
    promise("another tenant has another handle", other != handle)?;
    for (tenant, handle) in [(&ours, &other), (&theirs, &handle)] {
        let found = handles.resolve(tenant, handle).await?;
        promise("which means nothing to the first", found.is_none())?;
        promise("nor can it be pinned", !handles.pin(tenant, handle).await?)?;
    }
    promise("a handle is pinned", handles.pin(&ours, &handle).await?)?;
    handles.issue(&ours, &blob, &facts("four")).await?;
    let pinned = handles.resolve(&ours, &handle).await?.is_some_and(|one| one.pinned);
    promise("and stays so", pinned)?;
    handles.unpin(&ours, &handle).await?;
    let secrets = (handles.secret(&ours).await?, handles.secret(&theirs).await?);
    promise("secrets differ", secrets.0 != secrets.1)?;
    promise("and stay", handles.secret(&ours).await? == secrets.0)
}

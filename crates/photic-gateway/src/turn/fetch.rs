//! Stage **fetch**: gets the inputs that a plan needs and that were not in the request.

use std::sync::Arc;

use super::recall::RecalledRequest;
use crate::http::Failure;
use crate::media::{FetchedInputs, MediaCache, MissingInputs, RemoteMedia};
use crate::memory::Share;
use crate::record::StoreBackend;

/// Fetches addresses, and loads blobs from the store.
#[derive(Debug)]
pub(crate) struct Fetcher {
    pub(crate) remote: Arc<RemoteMedia>,
    pub(crate) cache: Arc<MediaCache>,
    pub(crate) backend: Option<Arc<dyn StoreBackend>>,
}

impl Fetcher {
    /// Gets the inputs of a turn, charged to its caller.
    ///
    /// # Errors
    ///
    /// Fails if there is no memory for them. A URL that cannot be fetched is not an error: a notice
    /// replaces the image.
    pub(super) async fn fetch(
        &self,
        recalled: &RecalledRequest,
        missing: &MissingInputs,
        share: &Share,
    ) -> Result<FetchedInputs, Failure> {
        let (identity, addresses) = (&recalled.inbound.identity, missing.addresses.clone());
        let (remote, charges) = self.remote.fetch(identity, addresses, share).await?;
        let pixels = missing.pixels;
        let mut inputs = FetchedInputs { remote, pixels, charges, ..FetchedInputs::default() };
        if let Some(backend) = self.backend.as_ref().filter(|_| !missing.blobs.is_empty()) {
            let tenant = &recalled.context.tenant;
            let (pictures, charges) =
                self.cache.read(backend, tenant, &missing.blobs, share).await?;
            inputs.pictures = pictures;
            inputs.charges.extend(charges);
        }
        Ok(inputs)
    }
}

//! `/photic/v1/uploads`: pictures that callers put into the bucket themselves, past every gateway.

use std::time::Duration;

use http::{Response, StatusCode};
use photic_fleet::{QuotaExceeded, QuotaKind};
use serde_json::json;

use super::address::{self, LONGEST};
use super::door::{MOST, MediaApi, answered, failed};
use crate::failure::Failure;
use crate::memory::{Use, charged};
use crate::record::StoreBackend;
use crate::reply::ReplyBody;
use crate::tenancy::Caller;

const UPLOADS: &str = "/photic/v1/uploads";

impl MediaApi<'_> {
    /// Where somebody may put bytes on their own, past us. As many as they say count as kept from now
    /// on.
    pub(super) async fn expect(
        &self,
        caller: &Caller,
        bytes: Option<u64>,
        lasting: Option<u64>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let StoreBackend::Fleet(fleet, away) = self.place else { return Err(Failure::NoStore) };
        let lasting = lasting.map_or(LONGEST, Duration::from_secs).min(LONGEST);
        let bytes = bytes.unwrap_or(MOST);
        if bytes > MOST {
            return Err(Failure::TooLarge { limit: MOST });
        }
        self.reserve(caller, bytes).await?;
        let expected = fleet.expect_upload(&caller.tenant, bytes, lasting).await;
        let expected = away.notice(expected).map_err(failed).transpose();
        let upload = match expected.unwrap_or_else(|| Err(self.too_many_uploads(caller))) {
            Ok(upload) => upload,
            Err(failure) => {
                self.give_back(caller, bytes).await;
                return Err(failure);
            }
        };
        let done = format!("{UPLOADS}/{}/done", upload.id);
        let expires = address::now() + lasting.as_millis() as u64;
        let told = json!({
            "upload": upload.id, "put": upload.url, "done": done, "bytes": bytes,
            "expires": expires,
        });
        Ok(answered(StatusCode::CREATED, &told))
    }

    /// What somebody put there is theirs once we have looked at it.
    pub(super) async fn take(
        &self,
        caller: &Caller,
        id: &str,
        lasting: Option<u64>,
    ) -> Result<Response<ReplyBody>, Failure> {
        let StoreBackend::Fleet(fleet, away) = self.place else { return Err(Failure::NoStore) };
        let expected = fleet.expected_bytes(&caller.tenant, id).await;
        let expected = away.notice(expected).map_err(failed)?.ok_or(Failure::NoSuchMedia)?;
        let mut charge = self.share.charge(Use::Fetched, expected).await?;
        let taken = fleet.take_upload(&caller.tenant, id).await;
        let bytes = away.notice(taken).map_err(failed)?.ok_or(Failure::NoSuchMedia)?;
        charge.shrink_to(bytes.len() as u64);
        // From here on it counts as what it is.
        self.give_back(caller, expected).await;
        self.upload(caller, charged(bytes, charge), lasting).await
    }

    async fn reserve(&self, caller: &Caller, bytes: u64) -> Result<(), Failure> {
        let Some(quotas) = &self.proxy.quotas else { return Ok(()) };
        let stored = quotas.store(&caller.tenant, bytes).await;
        stored.map_err(|over| self.proxy.over(caller, over))
    }

    async fn give_back(&self, caller: &Caller, bytes: u64) {
        if let Some(quotas) = &self.proxy.quotas {
            quotas.give_back(&caller.tenant, bytes).await;
        }
    }

    /// A tenant asks for addresses and puts nothing there.
    fn too_many_uploads(&self, caller: &Caller) -> Failure {
        let over = QuotaExceeded { what: QuotaKind::StoredBytes, retry_after: Some(LONGEST) };
        self.proxy.over(caller, over)
    }
}

//! The credentials of a socket.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use crate::http::Failure;
use crate::tenant::{Admission, Admitted, KeyPlace};

/// The head of the request that opened the socket. Each response is admitted by it.
#[derive(Debug)]
pub(super) struct Credentials {
    pub(super) admission: Arc<Admission>,
    pub(super) headers: HeaderMap,
    pub(super) query: Option<String>,
    pub(super) peer: IpAddr,
    /// Texts of the head that the upstream may quote.
    pub(super) quotable: Vec<String>,
}

impl Credentials {
    /// Admits a response to a frame of so many bytes.
    pub(super) async fn admit(&self, bytes: u64) -> Result<Admitted, Failure> {
        let Self { admission, headers, query, peer, .. } = self;
        let place = KeyPlace::OwnHeader;
        admission.admit_bytes(headers, query.as_deref(), *peer, place, bytes).await
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::Mutex;

    use http::HeaderValue;
    use http::header::CONTENT_LENGTH;
    use photic_store::Tenant;

    use super::*;
    use crate::future::BoxFuture;
    use crate::http::OverQuota;
    use crate::memory::MemoryBudget;
    use crate::tenant::{Budgets, Callers, Quota};

    type Guard = Box<dyn Any + Send + Sync>;

    /// Lists the bytes of what it admits, until the guards are dropped.
    #[derive(Debug, Default)]
    struct Listing(Arc<Mutex<Vec<u64>>>);

    struct Listed(Arc<Mutex<Vec<u64>>>, u64);

    impl Drop for Listed {
        fn drop(&mut self) {
            self.0.lock().unwrap().retain(|bytes| *bytes != self.1);
        }
    }

    impl Quota for Listing {
        fn admit<'a>(
            &'a self,
            _: &'a Tenant,
            bytes: u64,
        ) -> BoxFuture<'a, Result<Guard, OverQuota>> {
            self.0.lock().unwrap().push(bytes);
            let listed = Listed(Arc::clone(&self.0), bytes);
            Box::pin(async move { Ok(Box::new(listed) as Guard) })
        }

        fn spend_pixels<'a>(
            &'a self,
            _: &'a Tenant,
            _: u64,
        ) -> BoxFuture<'a, Result<(), OverQuota>> {
            Box::pin(async { Ok(()) })
        }

        fn store<'a>(&'a self, _: &'a Tenant, _: u64) -> BoxFuture<'a, Result<(), OverQuota>> {
            Box::pin(async { Ok(()) })
        }

        fn release<'a>(&'a self, _: &'a Tenant, _: u64) -> BoxFuture<'a, ()> {
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn a_frame_counts_by_its_length_and_not_by_that_of_the_upgrade() {
        let quotas = Listing::default();
        let held = Arc::clone(&quotas.0);
        let memory = MemoryBudget::new(0);
        let quotas = Some(Arc::new(quotas) as Arc<dyn Quota>);
        let budgets = Arc::new(Budgets::open(None).unwrap());
        let callers = Callers::default();
        let admission = Arc::new(Admission::new(callers, quotas, None, memory, budgets));
        for length in [None, Some("0")] {
            let value = length.map(HeaderValue::from_static);
            let credentials = Credentials {
                admission: Arc::clone(&admission),
                headers: value.map(|value| (CONTENT_LENGTH, value)).into_iter().collect(),
                query: None,
                peer: IpAddr::from([127, 0, 0, 1]),
                quotable: Vec::new(),
            };
            let (one, other) = (credentials.admit(7).await, credentials.admit(8).await);
            assert_eq!(*held.lock().unwrap(), [7, 8]);
            drop(one);
            assert_eq!(*held.lock().unwrap(), [8]);
            drop(other);
        }
        assert!(held.lock().unwrap().is_empty());
    }
}

//! The memory for the bodies of all requests. It is charged as they arrive.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The unit of memory in bytes.
const UNIT: usize = 1 << 10;
/// The memory for the bodies of all requests.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    units: Arc<Semaphore>,
    /// All of it, in units.
    all: usize,
    /// The time for which a body waits for memory.
    wait: Duration,
}

/// The memory of one body, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    permits: Option<OwnedSemaphorePermit>,
    units: usize,
}

impl BodyBudget {
    pub(crate) fn new(bytes: usize, wait: Duration) -> Self {
        let all = (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(all)), all, wait }
    }

    /// Charges a body of this length. Returns `false` if there was no memory in time.
    pub(crate) async fn charge(&self, charge: &mut Charge, bytes: usize) -> bool {
        let Some(more) = bytes.div_ceil(UNIT).checked_sub(charge.units).filter(|more| *more > 0)
        else {
            return true;
        };
        // What can never be had is not waited for.
        let Some(units) = u32::try_from(more).ok().filter(|_| charge.units + more <= self.all)
        else {
            return false;
        };
        let acquire = Arc::clone(&self.units).acquire_many_owned(units);
        let Ok(Ok(permits)) = timeout(self.wait, acquire).await else { return false };
        charge.units += more;
        match &mut charge.permits {
            Some(own) => own.merge(permits),
            None => charge.permits = Some(permits),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_charge_grows_and_is_returned() {
        let memory = BodyBudget::new(4 * UNIT, Duration::ZERO);
        let mut first = Charge::default();
        assert!(memory.charge(&mut first, UNIT + 1).await);
        assert!(memory.charge(&mut first, 2 * UNIT).await);
        let mut second = Charge::default();
        assert!(!memory.charge(&mut second, 3 * UNIT).await);
        drop(first);
        assert!(memory.charge(&mut second, 3 * UNIT).await);
    }
}

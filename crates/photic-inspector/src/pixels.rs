//! Memory for the pixels that are decoded for pages, shared by all requests of an inspector.

use photic_pixels::DecodeLimits;
use photic_pixels::header::Header;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::failure::Failure;

/// Bytes of a unit of memory.
const UNIT: u64 = 1 << 20;
/// Units for all pictures that are in work.
const UNITS: u32 = 512;
/// Units that a decoder gets for its own buffers.
const BUFFERS: u32 = 16;

/// The memory. Who finds too little of it waits until another picture is done.
#[derive(Debug)]
pub(crate) struct PixelMemory {
    free: Semaphore,
}

/// Memory for one picture, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share<'m> {
    units: SemaphorePermit<'m>,
    copies: u32,
}

impl PixelMemory {
    pub(crate) fn new() -> Self {
        Self { free: Semaphore::new(UNITS as usize) }
    }

    /// Waits for the memory that a picture needs: for its pixels, `copies` times.
    pub(crate) async fn share(&self, header: &Header, copies: u32) -> Result<Share<'_>, Failure> {
        let pixels = u64::from(header.width) * u64::from(header.height);
        let needed = (pixels * 4 * u64::from(copies)).div_ceil(UNIT);
        let needed = u32::try_from(needed).unwrap_or(UNITS).saturating_add(BUFFERS);
        let units = self.free.acquire_many(needed.min(UNITS)).await;
        let units = units.map_err(|_| Failure::away("the inspector is stopping".to_owned()))?;
        Ok(Share { units, copies })
    }
}

impl Share<'_> {
    /// Returns limits that keep the work within the share.
    pub(crate) fn limits(&self) -> DecodeLimits<'static> {
        let memory = self.units.num_permits() as u64 * UNIT;
        let most = memory.saturating_sub(u64::from(BUFFERS) * UNIT) / 4 / u64::from(self.copies);
        let usual = DecodeLimits::default();
        DecodeLimits { memory, pixels: usual.pixels.min(most), ..usual }
    }
}

#[cfg(test)]
mod tests {
    use photic_pixels::chart::Chart;
    use photic_pixels::header::probe;
    use photic_store::wait;

    use super::*;

    fn header(width: u32, height: u32) -> Header {
        Header { width, height, ..probe(&Chart::of(7).png().unwrap()).unwrap() }
    }

    #[test]
    fn a_share_is_as_large_as_the_picture_and_given_back() {
        let memory = PixelMemory::new();
        let share = wait(memory.share(&header(1024, 1024), 3)).unwrap();
        assert_eq!(memory.free.available_permits() as u32, UNITS - 12 - BUFFERS);
        assert_eq!(share.limits().pixels, 1024 * 1024);
        assert_eq!(share.limits().memory, u64::from(12 + BUFFERS) * UNIT);
        drop(share);
        assert_eq!(memory.free.available_permits() as u32, UNITS);
    }

    #[test]
    fn a_picture_that_needs_more_than_all_gets_all_and_is_refused_by_its_limits() {
        let memory = PixelMemory::new();
        let share = wait(memory.share(&header(60_000, 60_000), 2)).unwrap();
        assert_eq!(memory.free.available_permits(), 0);
        let limits = share.limits();
        assert_eq!(limits.memory, u64::from(UNITS) * UNIT);
        assert!(limits.pixels * 4 * 2 <= limits.memory, "{limits:?}");
    }
}

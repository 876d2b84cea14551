//! Limits of decoding. No decoder runs without them.

use std::fmt::Debug;
use std::time::Duration;

use crate::refusal::{Refusal, RefusalCode};

/// The resources that a decode may use.
#[derive(Clone, Copy, Debug)]
pub struct DecodeLimits<'m> {
    /// Largest size of the file in bytes.
    pub file_bytes: usize,
    /// Largest number of pixels of one frame, or of the region if it is decoded without the rest.
    pub pixels: u64,
    /// Largest number of frames; a file with more is refused.
    pub frames: u32,
    /// Largest number of bytes held at once, including the decoder's own buffers.
    pub memory: u64,
    /// Longest time that a decode may take.
    pub time: Duration,
    /// Grants memory before it is used, and can end the work early.
    pub meter: Option<&'m dyn Meter>,
}

/// Grants memory for pixel work, and can end the work early.
pub trait Meter: Debug + Sync {
    /// Grants `bytes` in total from now on, in addition to what the caller holds itself. Called
    /// before that much is allocated. Returns `false` if there is not enough memory; the work then
    /// ends with a refusal.
    fn hold(&self, bytes: u64) -> bool;

    /// Returns `true` while the result is still wanted. Called every few rows and between steps;
    /// the work ends with a refusal once it returns `false`.
    fn is_wanted(&self) -> bool;
}

impl Default for DecodeLimits<'_> {
    /// Enough for a photo of 64 megapixels.
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            pixels: 64_000_000,
            frames: 10_000,
            memory: 512 << 20,
            time: Duration::from_secs(10),
            meter: None,
        }
    }
}

impl PartialEq for DecodeLimits<'_> {
    /// Meters are equal if they are the same object.
    fn eq(&self, other: &Self) -> bool {
        let meter = |limits: &Self| limits.meter.map(|meter| std::ptr::from_ref(meter).addr());
        let Self { file_bytes, pixels, frames, memory, time, meter: _ } = *self;
        (file_bytes, pixels, frames, memory, time)
            == (other.file_bytes, other.pixels, other.frames, other.memory, other.time)
            && meter(self) == meter(other)
    }
}

impl Eq for DecodeLimits<'_> {}

impl DecodeLimits<'_> {
    /// Requests memory for a step after decoding.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), Refusal> {
        match self.meter {
            Some(meter) if !meter.hold(bytes) => Err(no_room()),
            Some(_) | None => Ok(()),
        }
    }

    /// Fails once the result is no longer wanted.
    pub(crate) fn wanted(&self) -> Result<(), Refusal> {
        match self.meter {
            Some(meter) if !meter.is_wanted() => Err(called_off()),
            Some(_) | None => Ok(()),
        }
    }
}

/// The refusal if a meter grants no memory.
pub(crate) fn no_room() -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        "there is no memory for this picture at the moment",
        "try again later, or make a smaller copy",
    )
}

/// The refusal if a meter ends the work.
pub(crate) fn called_off() -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        "the work on this picture was ended before it was done",
        "ask again, or make a smaller copy",
    )
}

//! The bounds of every decode: none runs without them.

use std::fmt::Debug;
use std::time::Duration;

use crate::refusal::{Refusal, RefusalCode};

/// What a decoder may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'m> {
    /// Most bytes of the file itself.
    pub file_bytes: usize,
    /// Most pixels of one frame.
    pub pixels: u64,
    /// Most frames that are counted; more is a refusal.
    pub frames: u32,
    /// Most bytes that decoding may hold at once, the decoder's own buffers included.
    pub memory: u64,
    /// Longest time a decode may take.
    pub time: Duration,
    /// Who is asked for memory before it is used, and whether the work is still wanted.
    pub meter: Option<&'m dyn Meter>,
}

/// Whoever pays for pixel work: lends memory to it, and can end it early.
pub trait Meter: Debug + Sync {
    /// Lends `bytes` in all from now on, beside what the caller of the work holds itself. Called before
    /// that much is allocated. Returns `false` where there is no room; the work then ends with a refusal.
    fn hold(&self, bytes: u64) -> bool;

    /// Returns whether the result is still wanted. Asked every few rows, and between the steps of the
    /// work, which ends with a refusal once it is not.
    fn is_wanted(&self) -> bool;
}

impl Default for Limits<'_> {
    /// Room for a 64 MP photo, and for nothing that was made to hurt.
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

impl PartialEq for Limits<'_> {
    /// Meters are equal if they are one and the same.
    fn eq(&self, other: &Self) -> bool {
        let meter = |limits: &Self| limits.meter.map(|meter| std::ptr::from_ref(meter).addr());
        let Self { file_bytes, pixels, frames, memory, time, meter: _ } = *self;
        (file_bytes, pixels, frames, memory, time)
            == (other.file_bytes, other.pixels, other.frames, other.memory, other.time)
            && meter(self) == meter(other)
    }
}

impl Eq for Limits<'_> {}

impl Limits<'_> {
    /// Asks for memory that a step after decoding takes.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), Refusal> {
        match self.meter {
            Some(meter) if !meter.hold(bytes) => Err(no_room()),
            Some(_) | None => Ok(()),
        }
    }

    /// Fails once nobody wants the result any more.
    pub(crate) fn wanted(&self) -> Result<(), Refusal> {
        match self.meter {
            Some(meter) if !meter.is_wanted() => Err(called_off()),
            Some(_) | None => Ok(()),
        }
    }
}

pub(crate) fn no_room() -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        "there is no memory for this picture at the moment",
        "try again later, or make a smaller copy",
    )
}

pub(crate) fn called_off() -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        "the work on this picture was ended before it was done",
        "ask again, or make a smaller copy",
    )
}

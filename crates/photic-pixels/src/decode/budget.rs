//! Limits of one decode, checked before a decoder allocates.

use std::time::{Duration, Instant};

use crate::header::{Format, Header, corrupt};
use crate::limits::DecodeLimits;
use crate::refusal::{Refusal, RefusalCode};

/// Limits of one decode and its deadline.
pub(super) struct DecodeBudget<'m> {
    pub(super) pixels: u64,
    pub(super) memory: u64,
    pub(super) frames: u32,
    pub(super) time: Duration,
    /// `true` if the picture has more pixels than the limit, so that only a region may be decoded.
    pub(super) in_part: bool,
    until: Instant,
    format: Format,
    limits: DecodeLimits<'m>,
}

impl<'m> DecodeBudget<'m> {
    /// Checks the header against the limits, except for that on pixels, which [`super::regions`]
    /// checks. Nothing has been allocated yet.
    pub(super) fn check(
        bytes: &[u8],
        header: &Header,
        limits: &DecodeLimits<'m>,
    ) -> Result<Self, Refusal> {
        if !header.format.is_decoded() {
            return Err(unsupported(header.format));
        }
        if bytes.len() > limits.file_bytes {
            return Err(too_large(format!(
                "the file has {} bytes, over the limit of {}",
                bytes.len(),
                limits.file_bytes
            )));
        }
        if header.frames.least() > limits.frames {
            return Err(too_large(format!(
                "the file has {} frames, over the limit of {}",
                header.frames.least(),
                limits.frames
            )));
        }
        Ok(Self {
            pixels: limits.pixels,
            memory: limits.memory,
            frames: limits.frames,
            time: limits.time,
            in_part: header.pixels() > limits.pixels,
            until: Instant::now() + limits.time,
            format: header.format,
            limits: *limits,
        })
    }

    /// Requests memory for all buffers that the decoder holds at once.
    pub(super) fn room(&self, bytes: u64) -> Result<(), Refusal> {
        if bytes <= self.memory {
            return self.limits.hold(bytes);
        }
        Err(too_large(format!(
            "decoding this {} file needs {} MB, over the limit of {}",
            self.format.name(),
            bytes >> 20,
            self.memory >> 20
        )))
    }

    /// Fails after the deadline, or when the result is no longer wanted.
    pub(super) fn on_time(&self) -> Result<(), Refusal> {
        self.limits.wanted()?;
        if Instant::now() < self.until { Ok(()) } else { Err(self.too_slow()) }
    }

    /// The refusal of a decode that exceeds its time.
    pub(super) fn too_slow(&self) -> Refusal {
        too_large(format!(
            "decoding this {} file takes longer than {} s",
            self.format.name(),
            self.time.as_secs_f32()
        ))
    }

    /// A refusal with the decoder's own message.
    pub(super) fn corrupt(&self, error: &impl std::fmt::Display) -> Refusal {
        corrupt(self.format, &format!("cannot be decoded: {error}"))
    }

    /// The refusal of a file that ends before its pixels do.
    pub(super) fn cut(&self) -> Refusal {
        corrupt(self.format, "ends before its pixels do")
    }

    /// The refusal of a feature that no decoder here supports.
    pub(super) fn lacks(&self, feature: &str) -> Refusal {
        Refusal::new(
            RefusalCode::UnsupportedFormat,
            format!("this {} file uses {feature}, which is not decoded here", self.format.name()),
            "save it as an 8-bit PNG or JPEG and look at that",
        )
    }
}

/// The refusal of a file that exceeds a limit.
pub(super) fn too_large(says: String) -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        says,
        "make a smaller copy, or raise the limit if the file is trusted",
    )
}

/// The refusal of a format that has no decoder here.
pub(super) fn unsupported(format: Format) -> Refusal {
    Refusal::new(
        RefusalCode::UnsupportedFormat,
        format!("this is an image in {} format, which is not decoded here", format.name()),
        "turn it into PNG or JPEG, for example with `magick` or `vips`, and look at that",
    )
}

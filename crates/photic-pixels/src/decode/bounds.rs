//! The limits of one decode, held against what a decoder is about to use.

use std::time::{Duration, Instant};

use crate::header::{Format, Header, corrupt};
use crate::limits::Limits;
use crate::refusal::{Refusal, RefusalCode};

/// Limits and the moment they end.
pub(super) struct Bounds<'m> {
    pub(super) pixels: u64,
    pub(super) memory: u64,
    pub(super) frames: u32,
    pub(super) time: Duration,
    until: Instant,
    format: Format,
    limits: Limits<'m>,
}

impl<'m> Bounds<'m> {
    /// Holds the header against the limits; nothing has been allocated yet.
    pub(super) fn check(
        bytes: &[u8],
        header: &Header,
        limits: &Limits<'m>,
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
        if header.pixels() > limits.pixels {
            return Err(too_large(format!(
                "the image is {}x{}, which is {} megapixels, over the limit of {}",
                header.width,
                header.height,
                header.pixels() / 1_000_000,
                limits.pixels / 1_000_000
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
            until: Instant::now() + limits.time,
            format: header.format,
            limits: *limits,
        })
    }

    /// Asks for so many bytes to be held at once, all buffers of the decoder counted.
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

    /// Fails once there is no time left, or the work is not wanted any more.
    pub(super) fn on_time(&self) -> Result<(), Refusal> {
        self.limits.wanted()?;
        if Instant::now() < self.until { Ok(()) } else { Err(self.too_slow()) }
    }

    pub(super) fn too_slow(&self) -> Refusal {
        too_large(format!(
            "decoding this {} file takes longer than {} s",
            self.format.name(),
            self.time.as_secs_f32()
        ))
    }

    /// A refusal from a decoder's own words.
    pub(super) fn corrupt(&self, error: &impl std::fmt::Display) -> Refusal {
        corrupt(self.format, &format!("cannot be decoded: {error}"))
    }

    /// A file that stops before its pixels do.
    pub(super) fn cut(&self) -> Refusal {
        corrupt(self.format, "ends before its pixels do")
    }

    /// A feature of the format that no decoder here has.
    pub(super) fn lacks(&self, feature: &str) -> Refusal {
        Refusal::new(
            RefusalCode::UnsupportedFormat,
            format!("this {} file uses {feature}, which is not decoded here", self.format.name()),
            "save it as an 8-bit PNG or JPEG and look at that",
        )
    }
}

pub(super) fn too_large(says: String) -> Refusal {
    Refusal::new(
        RefusalCode::TooLarge,
        says,
        "make a smaller copy, or raise the limit if the file is trusted",
    )
}

pub(super) fn unsupported(format: Format) -> Refusal {
    Refusal::new(
        RefusalCode::UnsupportedFormat,
        format!("this is an image in {} format, which is not decoded here", format.name()),
        "turn it into PNG or JPEG, for example with `magick` or `vips`, and look at that",
    )
}

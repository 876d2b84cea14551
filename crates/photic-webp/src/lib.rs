//! A safe wrapper around libwebp's encoder.
//!
//! Encodes pixels as one still WebP on the calling thread; the same pixels and mode give the same
//! bytes. The decoder is not exposed: C code never sees untrusted bytes, only pixels whose number
//! was checked here.
//!
//! ```
//! use photic_webp::{Channels, Mode, encode};
//!
//! let pixels = [255, 0, 0].repeat(8 * 8);
//! let file = encode(&pixels, 8, 8, Channels::Rgb, Mode::Lossless { effort: 0 })?;
//! assert_eq!(&file[8..12], b"WEBP");
//! # Ok::<(), photic_webp::Error>(())
//! ```
//!
//! The crate decodes nothing, and writes no animations and no metadata. This file is the
//! whole crate; it has no modules.
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libwebp_sys as sys;

/// The longest edge that the format supports.
pub const MAX_EDGE: u32 = sys::WEBP_MAX_DIMENSION;

/// The samples of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha; not premultiplied.
    Rgba,
}

/// The compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// VP8: quality 0 to 100, method 0 (fast) to 6 (small).
    Lossy {
        /// 0 to 100.
        quality: u8,
        /// 0 to 6.
        method: u8,
    },
    /// VP8L: every sample is kept, including those under transparent alpha; effort 0 to 9.
    Lossless {
        /// 0 to 9.
        effort: u8,
    },
}

/// The reason why encoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An edge is 0 or longer than [`MAX_EDGE`], or the number of pixels does not match the edges.
    Shape,
    /// The encoder failed: out of memory, or a partition overflowed.
    Encoder,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Shape => "the number of pixels does not match the size of the WebP",
            Self::Encoder => "the WebP encoder failed",
        })
    }
}

impl std::error::Error for Error {}

/// Encodes `width` by `height` pixels whose rows have no padding.
///
/// # Errors
///
/// Fails if the size is invalid or does not match the pixels, or if libwebp fails.
pub fn encode(
    pixels: &[u8],
    width: u32,
    height: u32,
    channels: Channels,
    mode: Mode,
) -> Result<Vec<u8>, Error> {
    let samples = match channels {
        Channels::Rgb => 3_usize,
        Channels::Rgba => 4,
    };
    let in_range = |edge: u32| (1..=MAX_EDGE).contains(&edge);
    if !in_range(width) || !in_range(height) {
        return Err(Error::Shape);
    }
    // At most 16383 * 16383 * 4: no overflow, and a row fits a C int.
    let stride = width as usize * samples;
    if pixels.len() != stride * height as usize {
        return Err(Error::Shape);
    }

    let config = config(mode)?;
    let mut picture = Picture::new()?;
    picture.0.width = width as c_int;
    picture.0.height = height as c_int;
    picture.0.use_argb = c_int::from(matches!(mode, Mode::Lossless { .. }));
    let mut output = Output::new();
    picture.0.writer = Some(sys::WebPMemoryWrite);
    picture.0.custom_ptr = (&raw mut output.0).cast();

    let import = match channels {
        Channels::Rgb => sys::WebPPictureImportRGB,
        Channels::Rgba => sys::WebPPictureImportRGBA,
    };
    // SAFETY: the picture is initialized and carries these edges; `pixels` holds `height` rows
    // of `stride` bytes, checked above, and is only read during the call.
    let imported = unsafe { import(&raw mut picture.0, pixels.as_ptr(), stride as c_int) };
    if imported == 0 {
        return Err(Error::Encoder);
    }
    // SAFETY: both are initialized; `custom_ptr` points at `output`, which outlives the call
    // and is the writer that `WebPMemoryWrite` expects.
    if unsafe { sys::WebPEncode(&raw const config, &raw mut picture.0) } == 0 {
        return Err(Error::Encoder);
    }
    Ok(output.bytes())
}

/// The configuration of a mode.
fn config(mode: Mode) -> Result<sys::WebPConfig, Error> {
    let quality = match mode {
        Mode::Lossy { quality, .. } => f32::from(quality.min(100)),
        Mode::Lossless { .. } => 75.0,
    };
    let mut config =
        sys::WebPConfig::new_with_preset(sys::WebPPreset::WEBP_PRESET_DEFAULT, quality)
            .map_err(|()| Error::Encoder)?;
    match mode {
        Mode::Lossy { method, .. } => config.method = c_int::from(method.min(6)),
        Mode::Lossless { effort } => {
            config.exact = 1;
            // SAFETY: the config is initialized; the level is in the range the call asks for.
            let set = unsafe {
                sys::WebPConfigLosslessPreset(&raw mut config, c_int::from(effort.min(9)))
            };
            if set == 0 {
                return Err(Error::Encoder);
            }
        }
    }
    // One thread: none is started, and the output does not depend on one.
    config.thread_level = 0;
    Ok(config)
}

/// A picture that frees its planes.
struct Picture(sys::WebPPicture);

impl Picture {
    fn new() -> Result<Self, Error> {
        sys::WebPPicture::new().map(Self).map_err(|()| Error::Encoder)
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        // SAFETY: initialized by `new`; frees only what the library allocated itself.
        unsafe { sys::WebPPictureFree(&raw mut self.0) }
    }
}

/// A growing buffer of the library, freed on drop.
struct Output(sys::WebPMemoryWriter);

impl Output {
    fn new() -> Self {
        let mut writer = MaybeUninit::<sys::WebPMemoryWriter>::zeroed();
        // SAFETY: the pointer is valid for writes of the struct; zero is a valid bit pattern of
        // every field, and the call sets them to "empty".
        Self(unsafe {
            sys::WebPMemoryWriterInit(writer.as_mut_ptr());
            writer.assume_init()
        })
    }

    fn bytes(&self) -> Vec<u8> {
        if self.0.mem.is_null() {
            return Vec::new();
        }
        // SAFETY: not null, and the library wrote `size` bytes there.
        unsafe { std::slice::from_raw_parts(self.0.mem, self.0.size) }.to_vec()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // SAFETY: initialized by `new`; the buffer was allocated by the library or is null.
        unsafe { sys::WebPMemoryWriterClear(&raw mut self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: u32, height: u32, samples: usize) -> Vec<u8> {
        (0..width as usize * height as usize * samples).map(|i| (i * 7 % 251) as u8).collect()
    }

    #[test]
    fn both_modes_are_webp_and_repeat_their_bytes() {
        let pixels = ramp(33, 17, 4);
        for mode in [Mode::Lossy { quality: 80, method: 2 }, Mode::Lossless { effort: 1 }] {
            let first = encode(&pixels, 33, 17, Channels::Rgba, mode).unwrap();
            assert_eq!((&first[..4], &first[8..12]), (&b"RIFF"[..], &b"WEBP"[..]));
            assert_eq!(first, encode(&pixels, 33, 17, Channels::Rgba, mode).unwrap());
        }
    }

    #[test]
    fn wrong_shapes_never_reach_the_library() {
        let pixels = ramp(8, 8, 3);
        let mode = Mode::Lossy { quality: 80, method: 0 };
        for (width, height) in [(0, 8), (8, 0), (8, 9), (MAX_EDGE + 1, 1)] {
            assert_eq!(encode(&pixels, width, height, Channels::Rgb, mode), Err(Error::Shape));
        }
        assert_eq!(encode(&pixels, 8, 8, Channels::Rgba, mode), Err(Error::Shape));
    }
}

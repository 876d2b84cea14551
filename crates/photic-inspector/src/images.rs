//! Pictures for the page: the original, as it was sent, as the provider resizes it, and a thumbnail.
//!
//! Only bytes that our decoder read are served, as one of four types that browsers draw without
//! running anything. A drawing with markup (SVG) is never served as a picture.

use std::sync::Arc;

use photic::Digest;
use photic_pixels::decode::{DecodeOptions, Decoded, composite, decode};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::header::{Format, probe};
use photic_pixels::legibility::{SmallestText, smallest_text};
use photic_pixels::resize::resize;
use photic_pixels::{DecodeLimits, Raster};
use photic_store::SessionId;

use crate::failure::Failure;
use crate::inspector::Inspector;
use crate::pixels::Share;

/// Longest side of a thumbnail, in pixels.
const THUMB_EDGE: u32 = 128;
/// Most bytes of a thumbnail.
const THUMB_BYTES: usize = 4 << 10;

/// A picture that a page may draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The smallest text of a picture, and the size that it was measured in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    pub(crate) text: Option<SmallestText>,
    pub(crate) size: (u32, u32),
}

impl Letters {
    /// Returns the height of the smallest letters if the picture is resized to a width.
    pub(crate) fn in_width(&self, width: u32) -> Option<f64> {
        let text = self.text?;
        let height = text.x_height * f64::from(width) / f64::from(self.size.0.max(1));
        Some((height * 10.0).round() / 10.0)
    }
}

/// Returns the type that bytes may be served as: of a format that browsers only draw, and that the
/// decoder reads.
fn served_type(bytes: &[u8]) -> Result<&'static str, Failure> {
    let header = probe(bytes).map_err(|_| Failure::not_a_picture())?;
    match header.format {
        Format::Png => Ok("image/png"),
        Format::Jpeg => Ok("image/jpeg"),
        Format::Webp => Ok("image/webp"),
        Format::Gif => Ok("image/gif"),
        _ => Err(Failure::not_a_picture()),
    }
}

/// Decodes a picture. `at_most` is a hint that it will be shrunk to about this size.
fn decoded(
    bytes: &[u8],
    limits: &DecodeLimits<'_>,
    at_most: Option<(u32, u32)>,
) -> Result<Decoded, Failure> {
    let header = probe(bytes).map_err(|_| Failure::not_a_picture())?;
    let wanted = DecodeOptions { at_most, ..DecodeOptions::default() };
    decode(bytes, &header, limits, wanted).map_err(|_| Failure::not_a_picture())
}

/// Returns bytes as a picture, if the decoder reads them.
fn checked(bytes: Vec<u8>, limits: &DecodeLimits<'_>) -> Result<Picture, Failure> {
    let media_type = served_type(&bytes)?;
    decoded(&bytes, limits, Some((THUMB_EDGE, THUMB_EDGE)))?;
    Ok(Picture { media_type, bytes })
}

/// Returns the size within a longest side.
fn within((width, height): (u32, u32), edge: u32) -> (u32, u32) {
    let longest = width.max(height).max(1);
    if longest <= edge {
        return (width.max(1), height.max(1));
    }
    let scaled =
        |side: u32| ((u64::from(side) * u64::from(edge) / u64::from(longest)) as u32).max(1);
    (scaled(width), scaled(height))
}

/// Returns a thumbnail: a WebP of at most 4 KiB.
fn thumbnail(bytes: &[u8], limits: &DecodeLimits<'_>) -> Result<Picture, Failure> {
    let hint = Some((THUMB_EDGE, THUMB_EDGE));
    let raster = composite(&decoded(bytes, limits, hint)?.raster);
    let mut edge = THUMB_EDGE;
    loop {
        let small = scaled(&raster, within(raster.size(), edge))?;
        let options = EncodeOptions {
            accepts: &["image/webp"],
            cap: Some(THUMB_BYTES),
            prefer: Prefer::Photo,
            quality: Some(70),
        };
        match encode(&small, &options) {
            Ok(encoded) => {
                return Ok(Picture { media_type: encoded.media_type, bytes: encoded.bytes });
            }
            // Noise does not fit in that size.
            Err(_) if edge > 16 => edge /= 2,
            Err(_) => return Err(Failure::not_a_picture()),
        }
    }
}

/// Returns a picture as a provider resizes it, as PNG.
fn resized(bytes: &[u8], limits: &DecodeLimits<'_>, size: (u32, u32)) -> Result<Picture, Failure> {
    let raster = decoded(bytes, limits, None)?.raster;
    let small = scaled(&raster, size)?;
    let options = EncodeOptions { accepts: &["image/png"], ..EncodeOptions::default() };
    let encoded = encode(&small, &options).map_err(|_| Failure::not_a_picture())?;
    Ok(Picture { media_type: encoded.media_type, bytes: encoded.bytes })
}

fn scaled(raster: &Raster, size: (u32, u32)) -> Result<Raster, Failure> {
    if raster.size() == size {
        return Ok(raster.clone());
    }
    resize(raster, size).map_err(|_| Failure::not_a_picture())
}

/// Measures the smallest text of a picture.
fn letters(bytes: &[u8], limits: &DecodeLimits<'_>) -> Option<Letters> {
    let raster = decoded(bytes, limits, None).ok()?.raster;
    let raster = composite(&raster);
    Some(Letters { text: smallest_text(&raster), size: raster.size() })
}

impl Inspector {
    /// Returns the bytes of a blob of a session.
    pub(crate) async fn blob(&self, id: &SessionId, digest: &Digest) -> Result<Vec<u8>, Failure> {
        Ok(self.history.blob(id, digest).await?)
    }

    /// Returns the length of a blob, if it is there.
    pub(crate) async fn blob_size(&self, id: &SessionId, digest: Digest) -> Option<u64> {
        let key = format!("length/{}", hex(&digest));
        if let Some(found) = self.cache.get::<u64>(&key) {
            return Some(*found);
        }
        let length = self.blob(id, &digest).await.ok()?.len() as u64;
        Some(*self.cache.put(key, length, 8))
    }

    /// Returns the thumbnail of a blob, made once.
    pub(crate) async fn thumb(&self, id: &SessionId, digest: &Digest) -> Result<Picture, Failure> {
        let key = format!("thumb/{id}/{}", hex(digest));
        if let Some(found) = self.cache.get::<Picture>(&key) {
            return Ok(Picture::clone(&found));
        }
        let bytes = self.blob(id, digest).await?;
        let share = self.share(&bytes, 2).await?;
        let made = thumbnail(&bytes, &share.limits())?;
        let weight = made.bytes.len();
        Ok(Picture::clone(&self.cache.put(key, made, weight)))
    }

    /// Measures the smallest text of a blob, once. `None` if it cannot be decoded or is gone.
    pub(crate) async fn letters(&self, id: &SessionId, digest: &Digest) -> Option<Arc<Letters>> {
        if let Some(known) = self.known_letters(digest) {
            return Some(known);
        }
        let bytes = self.blob(id, digest).await.ok()?;
        let share = self.share(&bytes, 3).await.ok()?;
        Some(self.cache.put(letters_key(digest), letters(&bytes, &share.limits())?, 64))
    }

    /// Returns a blob as a picture, if the decoder reads it.
    pub(crate) async fn checked(
        &self,
        id: &SessionId,
        digest: &Digest,
    ) -> Result<Picture, Failure> {
        let bytes = self.blob(id, digest).await?;
        let share = self.share(&bytes, 1).await?;
        checked(bytes, &share.limits())
    }

    /// Returns a blob as a provider resizes it, as PNG.
    pub(crate) async fn resized(
        &self,
        id: &SessionId,
        digest: &Digest,
        size: (u32, u32),
    ) -> Result<Picture, Failure> {
        let bytes = self.blob(id, digest).await?;
        let share = self.share(&bytes, 2).await?;
        resized(&bytes, &share.limits(), size)
    }

    /// Waits for memory to decode a picture, `copies` times its pixels.
    async fn share(&self, bytes: &[u8], copies: u32) -> Result<Share<'_>, Failure> {
        let header = probe(bytes).map_err(|_| Failure::not_a_picture())?;
        self.pixels.share(&header, copies).await
    }

    /// Returns the smallest text of a blob, if it was measured.
    pub(crate) fn known_letters(&self, digest: &Digest) -> Option<Arc<Letters>> {
        self.cache.get(&letters_key(digest))
    }
}

fn letters_key(digest: &Digest) -> String {
    format!("letters/{}", hex(digest))
}

fn hex(digest: &Digest) -> String {
    blake3::Hash::from_bytes(*digest).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use photic_pixels::chart::Chart;

    use super::*;

    #[test]
    fn a_thumbnail_is_a_small_webp() {
        let file = Chart::of(7).png().unwrap();
        let thumb = thumbnail(&file, &DecodeLimits::default()).unwrap();
        assert_eq!(thumb.media_type, "image/webp");
        assert!(thumb.bytes.len() <= THUMB_BYTES, "{}", thumb.bytes.len());
        let header = probe(&thumb.bytes).unwrap();
        assert_eq!(header.width.max(header.height), THUMB_EDGE);
    }

    #[test]
    fn only_pictures_that_were_decoded_are_served() {
        let file = Chart::of(7).png().unwrap();
        let limits = DecodeLimits::default();
        assert_eq!(checked(file.clone(), &limits).unwrap().media_type, "image/png");
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        for bytes in [&svg[..], b"<html><script>alert(1)</script>", b"", b"GIF89a", &file[..60]] {
            assert_eq!(checked(bytes.to_vec(), &limits).unwrap_err().code(), "not_a_picture");
            assert_eq!(thumbnail(bytes, &limits).unwrap_err().code(), "not_a_picture");
        }
    }

    #[test]
    fn a_resized_picture_has_the_size_of_the_provider() {
        let file = Chart::of(7).png().unwrap();
        let seen = resized(&file, &DecodeLimits::default(), (100, 75)).unwrap();
        let header = probe(&seen.bytes).unwrap();
        assert_eq!((seen.media_type, header.width, header.height), ("image/png", 100, 75));
    }
}

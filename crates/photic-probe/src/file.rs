//! Picture files, in each of the formats that endpoints treat differently.

use photic_pixels::chart::{Chart, Code};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use serde::{Deserialize, Serialize};

use crate::picture::Picture;

/// The format of a picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
    /// GIF.
    Gif,
    /// A PNG that is transparent except for its ink, and black below: unreadable if transparency is
    /// dropped.
    Alpha,
    /// A rotated JPEG with an EXIF orientation: read in the wrong order if the orientation is
    /// ignored.
    Exif6,
}

/// A picture file.
#[derive(Clone, PartialEq, Eq)]
pub struct PictureFile {
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for PictureFile {
    /// Omits the bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} of {} bytes>", self.media_type, self.bytes.len())
    }
}

impl PictureFormat {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Alpha, Self::Exif6];

    /// The name in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
            Self::Gif => "gif",
            Self::Alpha => "alpha",
            Self::Exif6 => "exif6",
        }
    }

    /// Finds a format by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type of the format.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png | Self::Alpha => "image/png",
            Self::Jpeg | Self::Exif6 => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// Encodes a square picture; `None` if that fails.
    pub(crate) fn file(self, picture: &Picture, side: u32, seed: u64) -> Option<PictureFile> {
        let raster = picture.draw(side);
        let bytes = match (self, picture) {
            (Self::Png, _) => encoded(&with_noise(raster, seed), "image/png", Prefer::Lossless),
            (Self::Jpeg, _) => encoded(&raster, "image/jpeg", Prefer::Photo),
            (Self::Webp, _) => encoded(&raster, "image/webp", Prefer::Photo),
            (Self::Gif, _) => gif(&raster),
            (Self::Alpha, Picture::Grid(chart)) => png(&with_transparent_white(chart, side)),
            (Self::Alpha, Picture::Code(code)) => png(&transparent(code, side)),
            (Self::Exif6, _) => encoded(&rotated(&raster), "image/jpeg", Prefer::Photo)
                .map(|jpeg| with_orientation(&jpeg)),
        };
        Some(PictureFile { media_type: self.media_type(), bytes: bytes? })
    }
}

/// Encodes a raster.
fn encoded(raster: &Raster, media_type: &str, prefer: Prefer) -> Option<Vec<u8>> {
    let options = EncodeOptions { accepts: &[media_type], prefer, ..EncodeOptions::default() };
    encode(raster, &options).ok().map(|encoded| encoded.bytes)
}

/// Adds invisible noise to every eighth row. Without it, the file would be so small that its base64
/// costs no more than its pixels, and the two could not be told apart on the bill.
fn with_noise(mut raster: Raster, seed: u64) -> Raster {
    let mut state = seed | 1;
    let row = raster.width as usize * 3;
    for row in raster.data.chunks_mut(row).step_by(8) {
        for blue in row.iter_mut().skip(2).step_by(3) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *blue ^= (state >> 32) as u8 & 1;
        }
    }
    raster
}

/// Encodes a GIF.
fn gif(raster: &Raster) -> Option<Vec<u8>> {
    let (width, height) = (raster.width as u16, raster.height as u16);
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[]).ok()?;
    let frame = gif::Frame::from_rgb(width, height, &raster.data);
    encoder.write_frame(&frame).ok()?;
    drop(encoder);
    Some(bytes)
}

/// Draws a code with transparent paper.
fn transparent(code: &Code, side: u32) -> Raster {
    code.draw_transparent(side, side)
}

/// Draws a grid with transparent white, black below.
fn with_transparent_white(chart: &Chart, side: u32) -> Raster {
    let raster = chart.draw(side, side);
    let pixel = |pixel: &[u8]| match pixel {
        [red, green, blue] if [*red, *green, *blue].iter().all(|part| *part > 240) => [0; 4],
        [red, green, blue] => [*red, *green, *blue, 255],
        _ => [0; 4],
    };
    let data = raster.data.chunks(3).flat_map(pixel).collect();
    Raster { layout: Layout::Rgba, data, ..raster }
}

/// Encodes a PNG with alpha.
fn png(raster: &Raster) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, raster.width, raster.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&raster.data).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// Turns a picture a quarter to the left; orientation 6 turns it back.
fn rotated(raster: &Raster) -> Raster {
    let (width, height) = (raster.height, raster.width);
    let mut data = Vec::with_capacity(raster.data.len());
    for y in 0..height {
        for x in 0..width {
            data.extend_from_slice(&raster.rgb(height - 1 - y, x));
        }
    }
    Raster { width, height, layout: Layout::Rgb, data }
}

/// Inserts an EXIF segment with orientation 6 after the first marker.
fn with_orientation(jpeg: &[u8]) -> Vec<u8> {
    const EXIF: &[u8] = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\
        \x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    [&jpeg[..2], EXIF, &jpeg[2..]].concat()
}

#[cfg(test)]
mod tests {
    use photic_pixels::chart::{ChartReading, read_chart};
    use photic_pixels::header::probe;

    use super::*;
    use crate::picture::Task;

    #[test]
    fn every_format_and_size_is_read_back() {
        for task in [
            Task::Grid { rows: 2, columns: 2 },
            Task::Grid { rows: 3, columns: 3 },
            Task::Grid { rows: 4, columns: 4 },
            Task::Grid { rows: 2, columns: 4 },
            Task::Code { length: 4 },
            Task::Code { length: 5 },
            Task::Code { length: 6 },
        ] {
            for seed in 0..2 {
                let picture = task.picture(seed);
                for format in PictureFormat::ALL {
                    for side in [256, 512] {
                        let file = format.file(&picture, side, seed).unwrap();
                        let seen = match read_chart(&file.bytes).unwrap() {
                            ChartReading::Chart(chart) => Picture::Grid(chart),
                            ChartReading::Code(code) => Picture::Code(code),
                            ChartReading::Other => {
                                panic!("{task:?} {seed} {format:?} {side}: nothing")
                            }
                        };
                        assert_eq!(seen, picture, "{task:?} {seed} {format:?} {side}");
                        assert_eq!(
                            probe(&file.bytes).unwrap().format.media_type(),
                            file.media_type
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_picture_on_its_side_is_another_one() {
        let picture = Task::Grid { rows: 3, columns: 3 }.picture(1);
        let upright = PictureFormat::Jpeg.file(&picture, 256, 1).unwrap();
        let turned = PictureFormat::Exif6.file(&picture, 256, 1).unwrap();
        let unnoted = [&turned.bytes[..2], &turned.bytes[38..]].concat();
        assert_eq!(read_chart(&turned.bytes).unwrap(), read_chart(&upright.bytes).unwrap());
        assert_ne!(read_chart(&unnoted).unwrap(), read_chart(&upright.bytes).unwrap());
    }

    #[test]
    fn a_png_weighs_enough_to_tell_letters_from_pixels() {
        for task in [Task::Grid { rows: 3, columns: 3 }, Task::Code { length: 5 }] {
            let bytes = PictureFormat::Png.file(&task.picture(1), 512, 1).unwrap().bytes.len();
            assert!((10_000..60_000).contains(&bytes), "{bytes}");
        }
    }
}

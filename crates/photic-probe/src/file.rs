//! A picture as a file, in each of the formats that endpoints treat differently.

use photic_pixels::chart::{Chart, Code};
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use serde::{Deserialize, Serialize};

use crate::picture::Picture;

/// What kind of file a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
    /// GIF.
    Gif,
    /// A PNG that is transparent but for its ink, and black beneath: it is lost on whoever drops
    /// the transparency.
    Alpha,
    /// A JPEG that lies on its side, with the note of cameras that says so: whoever overlooks the
    /// note reads it in the wrong order.
    Exif6,
}

/// A file.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Its type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for File {
    /// Never the bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} of {} bytes>", self.media_type, self.bytes.len())
    }
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Png, Self::Jpeg, Self::Webp, Self::Gif, Self::Alpha, Self::Exif6];

    /// Its name, in flags and files.
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

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The type that such a file is declared as.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png | Self::Alpha => "image/png",
            Self::Jpeg | Self::Exif6 => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// A square picture as such a file; `None` if it cannot be made.
    pub(crate) fn file(self, picture: &Picture, side: u32, seed: u64) -> Option<File> {
        let raster = picture.draw(side);
        let bytes = match (self, picture) {
            (Self::Png, _) => encoded(&grained(raster, seed), "image/png", Prefer::Lossless),
            (Self::Jpeg, _) => encoded(&raster, "image/jpeg", Prefer::Photo),
            (Self::Webp, _) => encoded(&raster, "image/webp", Prefer::Photo),
            (Self::Gif, _) => gif(&raster),
            (Self::Alpha, Picture::Grid(chart)) => png(&holes(chart, side)),
            (Self::Alpha, Picture::Code(code)) => png(&transparent(code, side)),
            (Self::Exif6, _) => {
                encoded(&on_its_side(&raster), "image/jpeg", Prefer::Photo).map(|jpeg| noted(&jpeg))
            }
        };
        Some(File { media_type: self.media_type(), bytes: bytes? })
    }
}

fn encoded(raster: &Raster, media_type: &str, prefer: Prefer) -> Option<Vec<u8>> {
    let options = EncodeOptions { accepts: &[media_type], prefer, ..EncodeOptions::default() };
    encode(raster, &options).ok().map(|encoded| encoded.bytes)
}

/// Every eighth row with a grain that nobody sees. Without it the file would be so small that its
/// letters cost no more than its pixels, and nobody could tell which of them was billed.
fn grained(mut raster: Raster, seed: u64) -> Raster {
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

fn gif(raster: &Raster) -> Option<Vec<u8>> {
    let (width, height) = (raster.width as u16, raster.height as u16);
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[]).ok()?;
    let frame = gif::Frame::from_rgb(width, height, &raster.data);
    encoder.write_frame(&frame).ok()?;
    drop(encoder);
    Some(bytes)
}

fn transparent(code: &Code, side: u32) -> Raster {
    code.draw_transparent(side, side)
}

/// A grid whose white is a hole, black beneath.
fn holes(chart: &Chart, side: u32) -> Raster {
    let raster = chart.draw(side, side);
    let pixel = |pixel: &[u8]| match pixel {
        [red, green, blue] if [*red, *green, *blue].iter().all(|part| *part > 240) => [0; 4],
        [red, green, blue] => [*red, *green, *blue, 255],
        _ => [0; 4],
    };
    let data = raster.data.chunks(3).flat_map(pixel).collect();
    Raster { layout: Layout::Rgba, data, ..raster }
}

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

/// A quarter turn to the left; orientation 6 turns it back.
fn on_its_side(raster: &Raster) -> Raster {
    let (width, height) = (raster.height, raster.width);
    let mut data = Vec::with_capacity(raster.data.len());
    for y in 0..height {
        for x in 0..width {
            data.extend_from_slice(&raster.rgb(height - 1 - y, x));
        }
    }
    Raster { width, height, layout: Layout::Rgb, data }
}

/// With an Exif segment behind the first marker: one entry, orientation 6.
fn noted(jpeg: &[u8]) -> Vec<u8> {
    const NOTE: &[u8] = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\
        \x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    [&jpeg[..2], NOTE, &jpeg[2..]].concat()
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
                for format in Format::ALL {
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
        let upright = Format::Jpeg.file(&picture, 256, 1).unwrap();
        let turned = Format::Exif6.file(&picture, 256, 1).unwrap();
        let unnoted = [&turned.bytes[..2], &turned.bytes[38..]].concat();
        assert_eq!(read_chart(&turned.bytes).unwrap(), read_chart(&upright.bytes).unwrap());
        assert_ne!(read_chart(&unnoted).unwrap(), read_chart(&upright.bytes).unwrap());
    }

    #[test]
    fn a_png_weighs_enough_to_tell_letters_from_pixels() {
        for task in [Task::Grid { rows: 3, columns: 3 }, Task::Code { length: 5 }] {
            let bytes = Format::Png.file(&task.picture(1), 512, 1).unwrap().bytes.len();
            assert!((10_000..60_000).contains(&bytes), "{bytes}");
        }
    }
}

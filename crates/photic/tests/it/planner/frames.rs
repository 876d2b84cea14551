//! Pictures that are a true header of any size, a number, and filler up to any weight.
//!
//! Nothing decodes them; everything that reads headers must believe them. The number is found again
//! in whatever was lowered.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_testkit::oracle::{self, Source};

/// One picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    /// Two frames of one number are the same bytes.
    pub(super) number: u32,
    pub(super) kind: Kind,
    pub(super) size: (u32, u32),
    /// Bytes before base64, as far as there is room for header and number.
    pub(super) weight: usize,
    /// It is sent by address, without its bytes.
    pub(super) remote: bool,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Png,
    Jpeg,
    Webp,
    Gif,
    /// Real, and taken by nobody.
    Bmp,
}

/// What stands before a number. Base64 of it is [`MARK64`], for header and mark are whole triples.
const MARK: &[u8] = b"photic";
const MARK64: &str = "cGhvdGlj";

impl Frame {
    /// A small PNG.
    pub(super) const fn png(number: u32, width: u32, height: u32) -> Self {
        Self { number, kind: Kind::Png, size: (width, height), weight: 0, remote: false }
    }

    pub(super) const fn weighing(self, weight: usize) -> Self {
        Self { weight, ..self }
    }

    pub(super) const fn media_type(&self) -> &'static str {
        match self.kind {
            Kind::Png => "image/png",
            Kind::Jpeg => "image/jpeg",
            Kind::Webp => "image/webp",
            Kind::Gif => "image/gif",
            Kind::Bmp => "image/bmp",
        }
    }

    /// Its bytes as padded base64: one whole picture, as far as the lengths in it tell.
    pub(super) fn base64(&self) -> String {
        let (head, tail) = (self.head(), self.tail());
        let rest = self.bytes() - head.len() - tail.len();
        let mut text = String::with_capacity(self.bytes().div_ceil(3) * 4);
        STANDARD.encode_string(&head, &mut text);
        if self.kind == Kind::Gif {
            STANDARD.encode_string([gif_blocks(rest), tail].concat(), &mut text);
        } else {
            text.push_str(&"AAAA".repeat(rest / 3));
            STANDARD.encode_string([vec![0; rest % 3], tail].concat(), &mut text);
        }
        text
    }

    /// How many bytes it has before base64.
    pub(super) fn bytes(&self) -> usize {
        (HEADS[self.kind as usize] + self.tail().len()).max(self.weight)
    }

    /// As the wires write it that take addresses and data URLs.
    pub(super) fn url(&self) -> String {
        if self.remote {
            return format!("https://pictures.example/photic{:06}.png", self.number);
        }
        format!("data:{};base64,{}", self.media_type(), self.base64())
    }

    /// Header and number, a multiple of three bytes.
    fn head(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let (w16, h16) = (width as u16, height as u16);
        let total = self.bytes() as u32;
        let mut head = match self.kind {
            Kind::Png => {
                let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
                head.extend(width.to_be_bytes());
                head.extend(height.to_be_bytes());
                head.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
                // One chunk up to the last one.
                head.extend((total - 33 - 12 - 12).to_be_bytes());
                head.extend(b"teXt\0");
                head
            }
            Kind::Jpeg => {
                let mut head = vec![0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8];
                head.extend(h16.to_be_bytes());
                head.extend(w16.to_be_bytes());
                head.extend([3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
                head.extend([0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0, 0]);
                head
            }
            Kind::Webp => {
                let mut head = b"RIFF".to_vec();
                head.extend(((total - 8) & !1).to_le_bytes());
                head.extend(b"WEBPVP8X\x0a\0\0\0\0\0\0\0");
                head.extend(&(width - 1).to_le_bytes()[..3]);
                head.extend(&(height - 1).to_le_bytes()[..3]);
                head
            }
            Kind::Gif => {
                let mut head = b"GIF89a".to_vec();
                head.extend(w16.to_le_bytes());
                head.extend(h16.to_le_bytes());
                // A comment; its first block holds the number, the others are filling.
                head.extend([0, 0, 0, 0x21, 0xFE, 14, 0, 0]);
                head
            }
            Kind::Bmp => {
                let mut head = b"BM".to_vec();
                head.extend(total.to_le_bytes());
                head.extend(b"\0\0\0\0\x36\0\0\0\x28\0\0\0");
                head.extend(width.to_le_bytes());
                head.extend(height.to_le_bytes());
                head.extend([1, 0, 24, 0]);
                head.resize(54, 0);
                head
            }
        };
        head.extend(MARK);
        head.extend(format!("{:06}", self.number).into_bytes());
        head
    }

    /// Its last bytes.
    fn tail(&self) -> Vec<u8> {
        match self.kind {
            Kind::Png => b"\0\0\0\0\0\0\0\0IEND\xaeB\x60\x82".to_vec(),
            Kind::Jpeg => vec![0xFF, 0xD9],
            Kind::Gif => vec![0, 0x3B],
            Kind::Webp | Kind::Bmp => Vec::new(),
        }
    }
}

/// How many bytes a head has, by its kind.
const HEADS: [usize; 5] = [54, 48, 42, 30, 66];

/// Blocks of a GIF that take so many bytes; one byte alone is no block.
fn gif_blocks(bytes: usize) -> Vec<u8> {
    let mut blocks = Vec::with_capacity(bytes);
    let mut rest = bytes;
    while rest > 0 {
        // The last block must not be a length alone.
        let length = if rest == 257 { 254 } else { (rest - 1).min(255) };
        blocks.push(length as u8);
        blocks.extend(vec![7; length]);
        rest -= length + 1;
    }
    blocks
}

/// The number of a picture by its base64.
pub(super) fn number_in(base64: &[u8]) -> Option<u32> {
    let head = base64.get(..base64.len().min(160))?;
    let at = head.windows(MARK64.len()).position(|window| window == MARK64.as_bytes())?;
    let digits = STANDARD.decode(head.get(at + 8..at + 16)?).ok()?;
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// The numbers of what the provider was shown: one, or those of all that a sheet was made of.
pub(super) fn numbers(image: &oracle::Image) -> Vec<u32> {
    let bytes = match &image.source {
        Source::Inline(bytes) => bytes.as_slice(),
        Source::Remote(url) => url.as_bytes(),
        Source::File(_) => &[],
    };
    let mut numbers = Vec::new();
    let mut rest = &bytes[..bytes.len().min(4096)];
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        rest = &rest[at + MARK.len()..];
        let digits = rest.get(..6).and_then(|digits| std::str::from_utf8(digits).ok());
        numbers.extend(digits.and_then(|digits| digits.parse::<u32>().ok()));
    }
    numbers
}

#[test]
fn frames_are_what_they_say() {
    for kind in [Kind::Png, Kind::Jpeg, Kind::Webp, Kind::Gif, Kind::Bmp] {
        for (weight, size) in [(0, (1, 20_000)), (1000, (20_000, 20_000)), (1001, (7, 3))] {
            let frame = Frame { number: 123, kind, size, weight, remote: false };
            let bytes = STANDARD.decode(frame.base64()).unwrap();
            assert_eq!(bytes.len(), frame.bytes());
            assert_eq!(oracle::sniff(&bytes), Some(frame.media_type()));
            let header = photic::media::Payload::encode(&bytes).header();
            assert_eq!((header.media_type, header.size), (Some(frame.media_type()), Some(size)));
            assert_eq!(number_in(frame.base64().as_bytes()), Some(123));
            assert!(photic::media::Payload::encode(&bytes).is_whole_picture(), "{kind:?} {weight}");
        }
    }
}

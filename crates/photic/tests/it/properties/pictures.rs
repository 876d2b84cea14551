//! Pictures as senders dress them: the bytes, the label, and the way they are spelled.
//!
//! Every picture of a conversation has bytes of its own, so that each can be found again in what
//! was lowered.

use photic_testkit::image::{self, broken};

/// One picture of a conversation.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// Its number in the conversation; no two share one.
    pub(super) number: usize,
    pub(super) format: Format,
    pub(super) dress: Dress,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Png,
    /// Longer than the edge of the strict profile.
    Tall,
    /// Larger than the byte limit of the strict profile.
    Heavy,
    Jpeg,
    Gif,
    Webp,
    /// A picture that no provider takes.
    Bmp,
    /// A drawing that no provider takes.
    Svg,
    /// An error page under the name of a picture.
    Html,
    /// Eight bytes of a PNG.
    Signature,
}

/// How it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dress {
    /// As the wire wants it.
    Proper,
    /// Under the name of another type.
    Mislabeled,
    /// By an address that the provider fetches.
    Address,
    /// By an address on the sender's own machine.
    Local,
    /// In a spelling that strict readers reject.
    Mangled(Mangle),
}

/// Spellings of base64 and of data URLs that are seen in the wild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mangle {
    Uppercase,
    Parameters,
    UrlSafe,
    Unpadded,
    Lines,
    Percent,
    Nickname,
    NoType,
    Nested,
    Spaces,
    /// Beyond repair.
    Garbage,
}

/// What a path on the sender's machine is called; it must never be told to a model.
pub(super) const HOST_PATH: &str = "/home/alice/private";

impl Picture {
    /// The bytes, different for every number.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let color = [(self.number % 251) as u8, (self.number / 251) as u8, 77];
        let number = (self.number as u32).to_be_bytes();
        match self.format {
            Format::Png => image::png(90, 7, color),
            Format::Tall => image::png(3, 130, color),
            Format::Heavy => image::png_noise(72, 8, self.number as u64),
            Format::Jpeg => marked_jpeg(number),
            Format::Gif => marked_gif(number),
            Format::Webp => marked_webp(number),
            Format::Bmp => image::bmp(72, 4, color),
            Format::Svg => image::svg(4, 4, color),
            Format::Html => [broken::html(), number.to_vec()].concat(),
            Format::Signature => broken::png_signature(),
        }
    }

    /// The type that an honest sender states.
    pub(super) const fn media_type(&self) -> &'static str {
        match self.format {
            Format::Png | Format::Tall | Format::Heavy | Format::Html | Format::Signature => {
                "image/png"
            }
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
            Format::Bmp => "image/bmp",
            Format::Svg => "image/svg+xml",
        }
    }

    /// Where it is, if it is sent by address.
    pub(super) fn address(&self) -> Option<String> {
        match self.dress {
            Dress::Address => Some(format!("https://pictures.example/{}.png", self.number)),
            Dress::Local => Some(format!("file://{HOST_PATH}/{}.png", self.number)),
            Dress::Proper | Dress::Mislabeled | Dress::Mangled(_) => None,
        }
    }

    /// Whether the provider can be shown it at all: the bytes are a picture it takes.
    pub(super) const fn is_showable(&self) -> bool {
        match self.dress {
            Dress::Address => true,
            Dress::Local | Dress::Mangled(Mangle::Garbage) => false,
            Dress::Proper | Dress::Mislabeled | Dress::Mangled(_) => match self.format {
                Format::Png
                | Format::Tall
                | Format::Heavy
                | Format::Jpeg
                | Format::Gif
                | Format::Webp => true,
                Format::Bmp | Format::Svg | Format::Html | Format::Signature => false,
            },
        }
    }

    /// As a string for the wires that take addresses and data URLs.
    pub(super) fn url(&self) -> String {
        if let Some(address) = self.address() {
            return address;
        }
        let (label, base64) = self.base64();
        match self.dress {
            Dress::Mangled(Mangle::Uppercase) => {
                format!("DATA:{};BASE64,{base64}", label.to_uppercase())
            }
            Dress::Mangled(Mangle::Parameters) => {
                format!("data:{label};charset=utf-8;name=a.png;base64,{base64}")
            }
            Dress::Mangled(Mangle::NoType) => format!("data:;base64,{base64}"),
            Dress::Mangled(Mangle::Nested) => {
                format!("data:{label};base64,data:{label};base64,{base64}")
            }
            Dress::Mangled(Mangle::Spaces) => format!(" data:{label};base64,{base64}\n"),
            _ => format!("data:{label};base64,{base64}"),
        }
    }

    /// As a label and base64, for the wires that take them apart.
    pub(super) fn base64(&self) -> (String, String) {
        let base64 = image::base64(&self.bytes());
        let label = self.media_type();
        let Dress::Mangled(mangle) = self.dress else {
            let wrong = if label == "image/webp" { "image/gif" } else { "image/webp" };
            let label = if self.dress == Dress::Mislabeled { wrong } else { label };
            return (label.to_owned(), base64);
        };
        let spelled = match mangle {
            Mangle::UrlSafe => base64.replace('+', "-").replace('/', "_"),
            Mangle::Unpadded => base64.trim_end_matches('=').to_owned(),
            Mangle::Lines => {
                let lines = base64.as_bytes().chunks(76).map(String::from_utf8_lossy);
                lines.collect::<Vec<_>>().join("\r\n")
            }
            Mangle::Percent => base64.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"),
            Mangle::Garbage => "!!no base64!!".to_owned(),
            Mangle::Nickname
            | Mangle::Uppercase
            | Mangle::Parameters
            | Mangle::NoType
            | Mangle::Nested
            | Mangle::Spaces => base64,
        };
        let label = match (mangle, label) {
            (Mangle::Nickname, "image/jpeg") => "image/jpg",
            (Mangle::Nickname, "image/png") => "image/x-png",
            _ => label,
        };
        (label.to_owned(), spelled)
    }
}

/// A JPEG of 96×72 pixels, by its header, with a comment.
fn marked_jpeg(number: [u8; 4]) -> Vec<u8> {
    let mut bytes = image::jpeg();
    let frame = bytes.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    bytes[frame + 5..frame + 9].copy_from_slice(&[0, 72, 0, 96]);
    bytes.splice(2..2, [&[0xff, 0xfe, 0, 6][..], &number].concat());
    bytes
}

/// A GIF of 96×72 pixels, by its header, with a comment.
fn marked_gif(number: [u8; 4]) -> Vec<u8> {
    let mut bytes = image::gif();
    bytes[6..10].copy_from_slice(&[96, 0, 72, 0]);
    let end = bytes.len() - 1;
    bytes.splice(end..end, [&[0x21, 0xfe, 4][..], &number, &[0]].concat());
    bytes
}

/// A WebP of 96×72 pixels, by its header, with a chunk that nobody knows.
fn marked_webp(number: [u8; 4]) -> Vec<u8> {
    let mut bytes = image::webp();
    bytes[26..30].copy_from_slice(&[96, 0, 72, 0]);
    bytes.extend([b"MARK", &[4, 0, 0, 0][..], &number].concat());
    let length = bytes.len() as u32 - 8;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

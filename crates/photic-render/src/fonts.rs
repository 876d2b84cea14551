//! The built-in fonts.
//!
//! System fonts are never used, so the same source gives the same pixels on every machine. The
//! built-in fonts cover Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, Lao, arrows,
//! box drawing, most of mathematics, Han, Kana, Hangul, and emoji in one color. Indic scripts need
//! fonts that the host hands over.

use std::sync::LazyLock;

/// Default family, also for Arial and similar fonts.
///
/// The condensed cut is about as wide as Arial, so that text stays in its boxes.
pub(crate) const SANS: &str = "DejaVu Sans";
/// Family for serif fonts.
pub(crate) const SERIF: &str = "DejaVu Serif";
/// Family for code; as wide as Courier.
pub(crate) const MONO: &str = "DejaVu Sans Mono";
/// Family for emoji. It also has digits, as parts of keycaps, so it must never come first for text.
pub(crate) const EMOJI: &str = "Noto Emoji";

/// The font files, in the order in which a missing character is searched for.
///
/// The program holds them compressed (`build.rs`); the first use takes some ten milliseconds.
pub(crate) static FILES: LazyLock<[&[u8]; 7]> = LazyLock::new(|| PACKED.map(unpacked));

/// A font as `build.rs` wrote it.
macro_rules! packed {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

static PACKED: [&[u8]; 7] = [
    packed!("DejaVuSansCondensed.ttf"),
    packed!("DejaVuSansCondensed-Bold.ttf"),
    packed!("DejaVuSerifCondensed.ttf"),
    packed!("DejaVuSansMono.ttf"),
    packed!("DejaVuSansMono-Bold.ttf"),
    packed!("DroidSansFallback-Letters.ttf"),
    packed!("NotoEmoji-Regular.ttf"),
];

/// The length, then the font in zlib's format.
fn unpacked(packed: &[u8]) -> &'static [u8] {
    let Some((length, packed)) = packed.split_first_chunk() else { return &[] };
    let mut font = vec![0; u32::from_le_bytes(*length) as usize];
    let found = libdeflater::Decompressor::new().zlib_decompress(packed, &mut font);
    debug_assert!(found.is_ok(), "{found:?}");
    font.leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_are_those_of_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fonts");
        let files = std::fs::read_dir(folder).expect("the folder");
        let files = files.map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> = files
            .filter(|path| path.extension().is_some_and(|ending| ending == "ttf"))
            .map(|path| std::fs::read(path).expect("a font"))
            .collect();
        let mut built_in = FILES.map(<[u8]>::to_vec).to_vec();
        files.sort();
        built_in.sort();
        assert!(files == built_in);
    }
}

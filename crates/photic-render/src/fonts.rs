//! The fonts that come with the crate, and those a host hands over.
//!
//! Owns the files in `fonts/`. No font is ever looked for on the system: the same source gives the
//! same pixels on every machine. The built-in ones cover Latin, Greek, Cyrillic, Armenian, Georgian,
//! Hebrew, Arabic, Lao, arrows, box drawing, most of mathematics, Han, Kana, Hangul, and emoji in
//! one color; not Indic scripts, for which a host hands over files of its own.

/// The family for drawings that ask for none in particular, or for Arial and its like.
///
/// The condensed cut, because its letters are about as wide as Arial's: text stays in its boxes.
pub(crate) const SANS: &str = "DejaVu Sans";
/// For those that ask for a serif.
pub(crate) const SERIF: &str = "DejaVu Serif";
/// For code; its letters are as wide as Courier's.
pub(crate) const MONO: &str = "DejaVu Sans Mono";
/// For emoji. It has digits too, as parts of keycaps: it must never be asked first for text.
pub(crate) const EMOJI: &str = "Noto Emoji";

/// The files, in the order in which a missing character is looked for.
pub(crate) static FILES: [&[u8]; 7] = [
    include_bytes!("../fonts/DejaVuSansCondensed.ttf"),
    include_bytes!("../fonts/DejaVuSansCondensed-Bold.ttf"),
    include_bytes!("../fonts/DejaVuSerifCondensed.ttf"),
    include_bytes!("../fonts/DejaVuSansMono.ttf"),
    include_bytes!("../fonts/DejaVuSansMono-Bold.ttf"),
    include_bytes!("../fonts/DroidSansFallback-Letters.ttf"),
    include_bytes!("../fonts/NotoEmoji-Regular.ttf"),
];

//! The built-in fonts.
//!
//! System fonts are never used, so the same source gives the same pixels on every machine. The
//! built-in fonts cover Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, Lao, arrows,
//! box drawing, most of mathematics, Han, Kana, Hangul, and emoji in one color. Indic scripts need
//! fonts that the host hands over.

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
pub(crate) static FILES: [&[u8]; 7] = [
    include_bytes!("../fonts/DejaVuSansCondensed.ttf"),
    include_bytes!("../fonts/DejaVuSansCondensed-Bold.ttf"),
    include_bytes!("../fonts/DejaVuSerifCondensed.ttf"),
    include_bytes!("../fonts/DejaVuSansMono.ttf"),
    include_bytes!("../fonts/DejaVuSansMono-Bold.ttf"),
    include_bytes!("../fonts/DroidSansFallback-Letters.ttf"),
    include_bytes!("../fonts/NotoEmoji-Regular.ttf"),
];

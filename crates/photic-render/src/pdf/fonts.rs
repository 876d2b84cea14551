//! Fonts for documents that name an East Asian font without embedding it.
//!
//! The renderer knows the characters, but has only European fonts.

use std::sync::Arc;

use hayro::hayro_interpret::font::FontData;
use hayro::hayro_interpret::hayro_cmap::CidFamily;
use skrifa::{FontRef, MetadataProvider};

/// The available fonts: those of the host first, then the built-in ones.
pub(super) struct Fonts(Vec<FontData>);

impl Fonts {
    /// Collects the fonts.
    pub(super) fn new(handed: &[Vec<u8>]) -> Self {
        let handed = handed.iter().map(|file| Arc::new(file.clone()) as FontData);
        let ours = crate::fonts::FILES.iter().map(|file| Arc::new(*file) as FontData);
        Self(handed.chain(ours).collect())
    }

    /// A font with a character that every font of the family has.
    pub(super) fn with(&self, family: &CidFamily) -> Option<(FontData, u32)> {
        let character = match family {
            CidFamily::AdobeJapan1 => 'の',
            CidFamily::AdobeGB1 | CidFamily::AdobeCNS1 => '中',
            CidFamily::AdobeKorea1 => '한',
            CidFamily::AdobeIdentity | CidFamily::Custom { .. } => return None,
        };
        let has = |file: &&FontData| {
            let font = FontRef::from_index(file.as_ref().as_ref(), 0);
            font.is_ok_and(|font| font.charmap().map(character).is_some())
        };
        self.0.iter().find(has).map(|file| (Arc::clone(file), 0))
    }
}

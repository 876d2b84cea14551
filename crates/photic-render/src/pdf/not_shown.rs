//! Lists what a document contains or asks for, but its page does not show.
//!
//! The renderer skips most of it silently; a model that looks at the page should know.

use std::sync::{Arc, Mutex, PoisonError};

use hayro::hayro_interpret::font::FontQuery;
use hayro::hayro_interpret::{InterpreterSettings, InterpreterWarning};
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro::hayro_syntax::page::Page;

use super::fonts::Fonts;
use crate::page::{LeftOut, Missing};

/// Collects warnings of the renderer.
#[derive(Clone, Default)]
pub(super) struct WarningCollector(Arc<Mutex<Vec<LeftOut>>>);

impl WarningCollector {
    /// Settings that report warnings here, and take fonts only from those at hand.
    pub(super) fn settings(&self, fonts: Fonts) -> InterpreterSettings {
        let (warned, asked) = (self.clone(), self.clone());
        InterpreterSettings {
            warning_sink: Arc::new(move |warning| warned.add(warning_left_out(warning))),
            font_resolver: Arc::new(move |query| match query {
                FontQuery::Standard(font) => Some(font.get_font_data()),
                FontQuery::Fallback(wanted) => {
                    let name = wanted.post_script_name.as_deref().unwrap_or("a font without name");
                    asked.add(LeftOut::new(Missing::Font, name));
                    let collection = wanted.character_collection.as_ref();
                    let other = collection.and_then(|collection| fonts.with(&collection.family));
                    other.or_else(|| Some(wanted.pick_standard_font().get_font_data()))
                }
            }),
            ..InterpreterSettings::default()
        }
    }

    /// Adds something left out, once, up to a limit.
    fn add(&self, what: LeftOut) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A page may report the same problem a million times.
        if !heard.contains(&what) && heard.len() < MAX_WARNINGS {
            heard.push(what);
        }
    }

    /// Everything that was reported, in order.
    pub(super) fn collected(self) -> Vec<LeftOut> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Largest number of reports; more than are listed, so that the rest is counted.
const MAX_WARNINGS: usize = 1_000;

/// Translates a warning.
fn warning_left_out(warning: InterpreterWarning) -> LeftOut {
    match warning {
        InterpreterWarning::UnsupportedFont => {
            LeftOut::new(Missing::Font, "a font could not be loaded")
        }
        InterpreterWarning::ImageDecodeFailure => {
            LeftOut::new(Missing::Picture, "a picture could not be decoded")
        }
        InterpreterWarning::UnresolvedAnnotationAppearance => {
            LeftOut::new(Missing::Annotation, "an annotation has no appearance that can be drawn")
        }
        // The library may add warnings.
        _ => LeftOut::new(Missing::Picture, "a part could not be drawn"),
    }
}

/// Actions of a document when it is opened, and forms that only other programs draw.
pub(super) fn of_document(document: &Pdf) -> Vec<LeftOut> {
    let xref = document.xref();
    let Some(catalog) = xref.get::<Dict<'_>>(xref.root_id()) else { return Vec::new() };
    let inside = |key: &str| catalog.get::<Dict<'_>>(key);
    let opens = inside("OpenAction").and_then(|action| action.get::<Name<'_>>("S"));
    let runs = opens.is_some_and(|action| action.as_str() == "JavaScript")
        || inside("Names").is_some_and(|names| names.contains_key("JavaScript"));
    let form = inside("AcroForm").is_some_and(|form| form.contains_key("XFA"));
    let script = runs.then(|| LeftOut::new(Missing::Script, "JavaScript"));
    let form = form.then(|| LeftOut::new(Missing::Foreign, "XFA form"));
    script.into_iter().chain(form).collect()
}

/// Fonts that are named but not embedded, and annotations without an appearance, which programs
/// draw differently.
pub(super) fn of_page(page: &Page<'_>) -> Vec<LeftOut> {
    let fonts = &page.resources().fonts;
    let fonts = fonts.keys().filter_map(|key| fonts.get::<Dict<'_>>(key.as_ref()));
    let mut found: Vec<LeftOut> = fonts.filter_map(|font| replaced_font(&font)).collect();
    // A dictionary has no order.
    found.sort_by(|one, other| one.detail.cmp(&other.detail));
    let notes = page.raw().get::<Array<'_>>("Annots");
    let notes = notes.iter().flat_map(Array::iter::<Dict<'_>>);
    found.extend(notes.filter_map(|note| undrawn_annotation(&note)));
    found
}

/// Fonts that every reader has, or an equivalent of the same width.
const COMMON_FONTS: [&str; 8] = [
    "Helvetica",
    "Times",
    "Courier",
    "Symbol",
    "ZapfDingbats",
    "Arial",
    "TimesNewRoman",
    "CourierNew",
];

/// A simple font that is replaced by another. The renderer reports composite ones itself.
fn replaced_font(font: &Dict<'_>) -> Option<LeftOut> {
    let kind = font.get::<Name<'_>>("Subtype")?;
    let name = font.get::<Name<'_>>("BaseFont")?;
    // The name of a font subset starts with six letters and a plus.
    let name = name.as_str();
    let name = name.split_once('+').map_or(name, |(_, name)| name);
    let family = name.split(['-', ',']).next().unwrap_or(name);
    let family = family.strip_suffix("PSMT").or(family.strip_suffix("MT")).unwrap_or(family);
    let files = ["FontFile", "FontFile2", "FontFile3"];
    let embedded = font
        .get::<Dict<'_>>("FontDescriptor")
        .is_some_and(|about| files.iter().any(|file| about.contains_key(file)));
    let simple = matches!(kind.as_str(), "Type1" | "TrueType" | "MMType1");
    let unusual = simple && !embedded && !COMMON_FONTS.contains(&family);
    unusual.then(|| LeftOut::new(Missing::Font, name))
}

/// Flags of annotations that are hidden, or not shown on a screen.
const HIDDEN: u32 = 1 << 1 | 1 << 5;

/// An annotation that is not drawn.
fn undrawn_annotation(note: &Dict<'_>) -> Option<LeftOut> {
    let kind = note.get::<Name<'_>>("Subtype")?;
    let kind = kind.as_str();
    // A link has no appearance, and a pop-up belongs to another annotation.
    let nothing_to_see = matches!(kind, "Link" | "Popup");
    let hidden = note.get::<u32>("F").unwrap_or(0) & HIDDEN != 0;
    if nothing_to_see || hidden || note.contains_key("AP") {
        return None;
    }
    let says = note.get::<PdfString<'_>>("Contents").or_else(|| note.get("V"));
    let says = says.map(|says| text(says.as_bytes())).filter(|says| !says.trim().is_empty());
    let detail = says.map_or_else(|| kind.to_owned(), |says| format!("{kind}: {says}"));
    Some(LeftOut::new(Missing::Annotation, &detail))
}

/// Decodes a text string: UTF-16 or UTF-8 with a mark, otherwise one byte per character.
fn text(bytes: &[u8]) -> String {
    let latin = || bytes.iter().map(|byte| char::from(*byte)).collect();
    match bytes {
        [0xfe, 0xff, ..] | [0xef, 0xbb, 0xbf, ..] => {
            crate::encoding::text(bytes).map_or_else(latin, Into::into)
        }
        _ => latin(),
    }
}

//! Reports fonts that are not available, and characters that no font has.

use std::collections::BTreeSet;
use std::sync::Arc;

use resvg::usvg::fontdb::{Database, Family, Query, Weight};
use resvg::usvg::{FallbackSelectionFn, Font, FontFamily, FontResolver, Group, Node, Tree};

use crate::page::{LeftOut, Missing};

/// A font resolver that reports what the library skips silently.
///
/// It reports a family that is not available, unless the drawing names another that is, and chooses
/// a font of the same kind: sans-serif for Arial, for example. It also searches every font for a
/// character; the library would stop at the first character that no font has.
pub(super) fn resolver(leave_out: &(dyn Fn(LeftOut) + Sync)) -> FontResolver<'_> {
    let select = FontResolver::default_font_selector();
    let select_font = Box::new(move |font: &Font, database: &mut Arc<Database>| {
        let Some(family) = absent(font, database) else { return select(font, database) };
        let (stand_in, own_kind) = kind(family);
        if !own_kind {
            leave_out(LeftOut::new(Missing::Font, family));
        }
        let weight = Weight(font.weight());
        let same_kind = Query { families: &[stand_in], weight, ..Query::default() };
        database.query(&same_kind).or_else(|| select(font, database))
    });
    let with_it = FontResolver::default_fallback_selector();
    let select_fallback: FallbackSelectionFn<'static> =
        Box::new(move |character, used, database| {
            with_it(character, used, database).or_else(|| {
                let mut others = database.faces().filter(|face| !used.contains(&face.id));
                others.next().map(|face| face.id)
            })
        });
    FontResolver { select_font, select_fallback }
}

/// The first family that a text names, if none of its families is available.
fn absent<'f>(font: &'f Font, database: &Database) -> Option<&'f str> {
    let at_hand = |family: &FontFamily| match family {
        FontFamily::Named(name) => {
            let families = &[Family::Name(name)];
            database.query(&Query { families, ..Query::default() }).is_some()
        }
        // Each generic family has a font.
        _ => true,
    };
    match font.families().first()? {
        FontFamily::Named(name) if !font.families().iter().any(at_hand) => Some(name),
        _ => None,
    }
}

/// The kind of a family by its name, and whether the name means only that kind.
fn kind(family: &str) -> (Family<'static>, bool) {
    let name = family.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let own_kind = name.starts_with("ui-") || has(&["system-ui", "-apple-system", "blinkmac"]);
    let kind = if has(&MONOSPACED) {
        Family::Monospace
    } else if has(&SANS_SERIF) || own_kind && name != "ui-serif" {
        Family::SansSerif
    } else {
        // As browsers do.
        Family::Serif
    };
    (kind, own_kind)
}

/// Parts of names of monospaced families.
const MONOSPACED: [&str; 9] =
    ["mono", "courier", "consol", "menlo", "monaco", "code", "terminal", "typewriter", "fixed"];
/// Parts of names of sans-serif families.
const SANS_SERIF: [&str; 24] = [
    "sans",
    "arial",
    "helvet",
    "verdana",
    "tahoma",
    "trebuchet",
    "calibri",
    "segoe",
    "roboto",
    "inter",
    "lato",
    "ubuntu",
    "grotesk",
    "gothic",
    "frutiger",
    "futura",
    "avenir",
    "univers",
    "myriad",
    "montserrat",
    "poppins",
    "geneva",
    "lucida grande",
    "san francisco",
];

/// The characters that are drawn as an empty box, each once.
pub(super) fn missing(tree: &Tree) -> String {
    let mut found = BTreeSet::new();
    in_group(tree.root(), &mut found);
    found.into_iter().collect()
}

/// Collects them in a group.
fn in_group(group: &Group, found: &mut BTreeSet<char>) {
    for node in group.children() {
        match node {
            Node::Group(group) => in_group(group, found),
            Node::Text(text) => {
                let shown = text.layouted().iter().filter(|span| span.visible);
                let glyphs = shown.flat_map(|span| &span.positioned_glyphs);
                let boxes = glyphs.filter(|glyph| glyph.id.0 == 0);
                found.extend(boxes.flat_map(|glyph| glyph.text.chars()).filter(|c| is_seen(*c)));
            }
            Node::Path(_) | Node::Image(_) => {}
        }
        node.subroots(|group| in_group(group, found));
    }
}

/// Returns `true` for characters that are visible.
fn is_seen(character: char) -> bool {
    let joins = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}');
    !joins && !character.is_whitespace() && !character.is_control()
}

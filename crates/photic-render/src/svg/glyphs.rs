//! Fonts that are not at hand, and characters that none of those at hand has: both are named.

use std::collections::BTreeSet;
use std::sync::Arc;

use resvg::usvg::fontdb::{Database, Family, Query, Weight};
use resvg::usvg::{FallbackSelectionFn, Font, FontFamily, FontResolver, Group, Node, Tree};

use crate::page::{LeftOut, Missing};

/// Chooses as the library does, but for what it passes over in silence.
///
/// It names a family that is not at hand, if the drawing names no other that is, and takes one of
/// the same kind: letters without serifs for Arial, not those of a book. And it looks for a character in every font: where none has it, the library would end the search there, also for all
/// characters that follow.
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

/// The first family that a text asks for, if it has to do with another that it did not ask for.
fn absent<'f>(font: &'f Font, database: &Database) -> Option<&'f str> {
    let at_hand = |family: &FontFamily| match family {
        FontFamily::Named(name) => {
            let families = &[Family::Name(name)];
            database.query(&Query { families, ..Query::default() }).is_some()
        }
        // Each of the five kinds has a font.
        _ => true,
    };
    match font.families().first()? {
        FontFamily::Named(name) if !font.families().iter().any(at_hand) => Some(name),
        _ => None,
    }
}

/// What kind of font a family is, by its name, and whether the name means no more than that kind.
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

/// Parts of names that tell a kind.
const MONOSPACED: [&str; 9] =
    ["mono", "courier", "consol", "menlo", "monaco", "code", "terminal", "typewriter", "fixed"];
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

/// Whether anything is missing when there is no glyph for it.
fn is_seen(character: char) -> bool {
    let joins = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}');
    !joins && !character.is_whitespace() && !character.is_control()
}

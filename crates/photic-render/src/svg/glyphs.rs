//! Characters that no font at hand has: looked for in every font, and named where none has them.

use std::collections::BTreeSet;

use resvg::usvg::{FallbackSelectionFn, FontResolver, Group, Node, Tree};

/// Looks for a character in every font, and goes on with the next one where none has it.
///
/// The library's own choice ends there, and with it the search for all characters that follow.
pub(super) fn resolver() -> FontResolver<'static> {
    let with_it = FontResolver::default_fallback_selector();
    let select_fallback: FallbackSelectionFn<'static> =
        Box::new(move |character, used, database| {
            with_it(character, used, database).or_else(|| {
                let mut others = database.faces().filter(|face| !used.contains(&face.id));
                others.next().map(|face| face.id)
            })
        });
    FontResolver { select_fallback, ..FontResolver::default() }
}

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

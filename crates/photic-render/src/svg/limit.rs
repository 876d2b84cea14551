//! Limits values of a drawing that ask for more than could be seen.

use std::ops::Range;

use resvg::usvg::roxmltree::{Document, Node};

/// Largest number of octaves of noise. Each is half as strong as the one before, so the tenth is
/// below one step of a sample. The standard allows this limit, and browsers have it.
const MAX_OCTAVES: u32 = 9;

/// The source with limited values; `None` if nothing exceeds the limits.
pub(super) fn limited(text: &str, document: &Document<'_>) -> Option<String> {
    let noise = document.descendants().filter(|node| node.tag_name().name() == "feTurbulence");
    let mut places: Vec<Range<usize>> = noise.filter_map(|node| octaves(text, &node)).collect();
    // An entity that is used twice gives the same position twice.
    places.sort_by_key(|place| place.start);
    places.dedup();
    if places.is_empty() {
        return None;
    }
    let mut limited = text.to_owned();
    for place in places.into_iter().rev() {
        limited.replace_range(place, &MAX_OCTAVES.to_string());
    }
    Some(limited)
}

/// The position of an excessive value.
fn octaves(text: &str, node: &Node<'_, '_>) -> Option<Range<usize>> {
    let attribute = node.attribute_node("numOctaves")?;
    let count: f64 = attribute.value().trim().parse().ok()?;
    let place = attribute.range_value();
    let as_written = text.get(place.clone()) == Some(attribute.value());
    (count > f64::from(MAX_OCTAVES) && as_written).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_too_much_changes() {
        let source = "<svg><feTurbulence numOctaves=' 1e6 '/><feTurbulence numOctaves='3'/>\
                      <a numOctaves='99'/><feTurbulence numOctaves=\"10\"/></svg>";
        let document = Document::parse(source).expect("XML");
        let expected = "<svg><feTurbulence numOctaves='9'/><feTurbulence numOctaves='3'/>\
                        <a numOctaves='99'/><feTurbulence numOctaves=\"9\"/></svg>";
        assert_eq!(limited(source, &document).as_deref(), Some(expected));
        let document = Document::parse(expected).expect("XML");
        assert_eq!(limited(expected, &document), None);
    }
}

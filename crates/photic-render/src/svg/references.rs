//! Lists references and content of a drawing that are not shown.
//!
//! The renderer ignores them silently; a model that looks at the picture should know.

use resvg::usvg::roxmltree::{Document, Node};

use crate::page::{LeftOut, Missing};
use crate::request::SourceFile;

/// Everything left out, in document order, except files that were handed over.
pub(crate) fn left_out(document: &Document<'_>, files: &[SourceFile]) -> Vec<LeftOut> {
    document.descendants().flat_map(|node| of(&node, files)).collect()
}

/// The file of a reference, compared as a name; no path is followed.
pub(crate) fn file<'f>(reference: &str, files: &'f [SourceFile]) -> Option<&'f SourceFile> {
    files.iter().find(|file| file.reference.trim() == reference.trim())
}

/// Returns the references of one node.
fn of(node: &Node<'_, '_>, files: &[SourceFile]) -> Vec<LeftOut> {
    if let Some(instruction) = node.pi() {
        let outside = instruction.target == "xml-stylesheet";
        let value = instruction.value.unwrap_or_default();
        return outside.then(|| LeftOut::new(Missing::External, value)).into_iter().collect();
    }
    if !node.is_element() {
        return Vec::new();
    }
    let name = node.tag_name().name();
    let mut found = Vec::new();
    match name {
        "script" => found.push(LeftOut::new(Missing::Script, "script")),
        "foreignObject" => found.push(LeftOut::new(Missing::Foreign, "foreignObject")),
        "animate" | "animateMotion" | "animateTransform" | "set" => {
            found.push(LeftOut::new(Missing::Animation, name));
        }
        "style" => found.extend(in_css(&style_text(node))),
        _ => {}
    }
    for attribute in node.attributes() {
        match attribute.name() {
            // The target of a link is not part of the picture.
            "href" | "src" if name != "a" && is_outside(attribute.value()) => {
                let shows_files = matches!(name, "image" | "feImage");
                if shows_files && file(attribute.value(), files).is_some() {
                    continue;
                }
                found.push(LeftOut::new(Missing::External, attribute.value().trim()));
            }
            handler if is_handler(handler) => {
                found.push(LeftOut::new(Missing::Script, handler));
            }
            _ => found.extend(in_css(attribute.value())),
        }
    }
    found
}

/// The text of a style element.
fn style_text(node: &Node<'_, '_>) -> String {
    node.children().filter_map(|child| child.text()).collect()
}

/// Returns `true` for event handlers such as `onload`.
fn is_handler(name: &str) -> bool {
    name.len() > 4 && name.starts_with("on") && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns `true` for references outside the drawing.
fn is_outside(reference: &str) -> bool {
    let reference = reference.trim();
    let data = reference.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    !reference.is_empty() && !reference.starts_with('#') && !data
}

/// References of `url(…)` and `@import "…"` outside the drawing, and embedded fonts.
fn in_css(css: &str) -> Vec<LeftOut> {
    let mut found = Vec::new();
    let faces = css.split("@font-face").skip(1);
    for face in faces.map(|rest| rest.split('}').next().unwrap_or_default()) {
        if face.contains("data:") {
            found.push(LeftOut::new(Missing::Font, &family(face)));
        }
    }
    let mut rest = css;
    while let Some(at) = rest.find("url(") {
        rest = &rest[at + 4..];
        let target = rest.split(')').next().unwrap_or_default();
        let target = target.trim().trim_matches(['"', '\'']);
        if is_outside(target) {
            found.push(LeftOut::new(Missing::External, target));
        }
    }
    let mut rest = css;
    while let Some(at) = rest.find("@import") {
        rest = &rest[at + 7..];
        let target = rest.trim_start();
        if let Some(quote) = target.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let target = target[1..].split(quote).next().unwrap_or_default();
            found.push(LeftOut::new(Missing::External, target));
        }
    }
    found
}

/// The family name of a `@font-face`.
fn family(face: &str) -> String {
    let named = face.split("font-family").nth(1).unwrap_or_default();
    let name = named.split(';').next().unwrap_or_default();
    name.trim_matches(|c: char| c == ':' || c == '"' || c == '\'' || c.is_whitespace()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_is_listed_and_what_is_inside_is_not() {
        let svg = r##"<?xml-stylesheet href="far.css"?>
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="go()">
            <style>@import "theme.css"; @font-face { src: url('font.woff2') }
                @font-face{font-family: 'Own';src:url(data:font/woff2;base64,AAAA)} .a { fill: url(#in) }</style>
            <a href="https://example.org/"><text>link</text></a>
            <image xlink:href=" photo.png "/><image href="data:image/png;base64,AAAA"/>
            <use href="#in"/><use href="other.svg#in"/>
            <rect style="fill:url(//example.org/p.svg#x)" fill="url(#in)"><animate/></rect>
            <script>go()</script><foreignObject/></svg>"##;
        let document = Document::parse(svg).expect("an SVG");
        let found = left_out(&document, &[]);
        let found: Vec<(Missing, &str)> =
            found.iter().map(|l| (l.what, l.detail.as_str())).collect();
        assert_eq!(
            found,
            [
                (Missing::External, "href=\"far.css\""),
                (Missing::Script, "onload"),
                (Missing::Font, "Own"),
                (Missing::External, "font.woff2"),
                (Missing::External, "theme.css"),
                (Missing::External, "photo.png"),
                (Missing::External, "other.svg#in"),
                (Missing::External, "//example.org/p.svg#x"),
                (Missing::Animation, "animate"),
                (Missing::Script, "script"),
                (Missing::Foreign, "foreignObject"),
            ]
        );
    }
}

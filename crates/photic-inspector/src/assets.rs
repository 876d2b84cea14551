//! The files of the viewer, embedded.

/// The page.
pub(crate) const INDEX: &[u8] = include_bytes!("../assets/index.html");
/// The script.
pub(crate) const SCRIPT: &[u8] = include_bytes!("../assets/app.js");
/// The style.
pub(crate) const STYLE: &[u8] = include_bytes!("../assets/app.css");

/// Returns the type and bytes of the file at a path.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    match path {
        "/inspect/" => Some(("text/html; charset=utf-8", INDEX)),
        "/inspect/app.js" => Some(("text/javascript; charset=utf-8", SCRIPT)),
        "/inspect/app.css" => Some(("text/css; charset=utf-8", STYLE)),
        _ => None,
    }
}

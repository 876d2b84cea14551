//! Resolves the requests of a page: itself, a file that was handed over, or something unavailable.
//!
//! The page has a URL deep in nonexistent folders, so that relative URLs from it read as the source
//! wrote them, including `../`.

use std::collections::BTreeMap;

use url::Url;

use crate::request::{Request, SourceFile};

/// Host of the page. The name can never exist (RFC 2606).
const HOST: &str = "photic.invalid";
/// Folder of the page.
const FOLDERS: &str = "/0/1/2/3/4/5/6/7/8/9/";
/// First folder; paths above it were written from the root, as in `/style.css`.
const ROOT: &str = "/0/";

/// The page and the files that were handed over.
pub(super) struct References<'a> {
    page: &'a [u8],
    base: String,
    /// `true` for XHTML, which browsers do not read by the rules of HTML.
    strict: bool,
    files: BTreeMap<String, &'a SourceFile>,
}

/// The answer to a request.
pub(super) struct ServedFile<'a> {
    /// Media type; the browser guesses if it is `None`.
    pub(super) media_type: Option<&'static str>,
    pub(super) bytes: &'a [u8],
}

impl<'a> References<'a> {
    pub(super) fn new(request: &Request<'a>) -> Self {
        let strict = ending(request.wanted.name.as_deref().unwrap_or_default()) == "xhtml";
        let base = format!("http://{HOST}{FOLDERS}page.html");
        let address = |file: &'a SourceFile| Some((resolved(&base, &file.reference)?, file));
        let files = request.files.iter().filter_map(address).collect();
        Self { page: request.bytes, base, strict, files }
    }

    /// The address of the page.
    pub(super) fn page_address(&self) -> &str {
        &self.base
    }

    /// The page itself.
    pub(super) fn page(&self) -> ServedFile<'a> {
        let utf8 = std::str::from_utf8(self.page).is_ok();
        let media_type = match (self.strict, utf8) {
            (true, _) => "application/xhtml+xml",
            // Valid UTF-8 is UTF-8; otherwise the browser looks for hints in the page.
            (false, true) => "text/html; charset=utf-8",
            (false, false) => "text/html",
        };
        ServedFile { media_type: Some(media_type), bytes: self.page }
    }

    /// A file that was handed over, by the URL that the browser made of its reference.
    pub(super) fn file(&self, address: &str) -> Option<ServedFile<'a>> {
        let address = address.split('#').next().unwrap_or_default();
        let file = self.files.get(address)?;
        Some(ServedFile { media_type: media_type(&file.reference), bytes: &file.bytes })
    }

    /// Returns `true` for requests that browsers send on their own: the page again, or its icon.
    pub(super) fn is_automatic(&self, address: &str) -> bool {
        let icon = address.strip_prefix("http://").and_then(|rest| rest.strip_prefix(HOST));
        address.split('#').next() == Some(&self.base) || icon == Some("/favicon.ico")
    }

    /// A URL as the source wrote it, as far as that can be told.
    pub(super) fn written(&self, address: &str) -> String {
        let relative = self.relative(address).unwrap_or_else(|| address.to_owned());
        let plain = unescaped(&relative);
        match plain {
            Some(plain) if !self.holds(&relative) && self.holds(&plain) => plain,
            _ => relative,
        }
    }

    /// A URL relative to the page.
    fn relative(&self, address: &str) -> Option<String> {
        let base = Url::parse(&self.base).ok()?;
        let address = Url::parse(address).ok().filter(|url| url.host_str() == Some(HOST))?;
        if address.path().starts_with(ROOT) {
            return base.make_relative(&address);
        }
        let query = address.query().map(|query| format!("?{query}")).unwrap_or_default();
        Some(format!("{}{query}", address.path()))
    }

    /// Returns `true` if the page contains a text.
    fn holds(&self, words: &str) -> bool {
        !words.is_empty() && self.page.windows(words.len()).any(|part| part == words.as_bytes())
    }
}

/// The URL that the browser makes of a reference, without a fragment.
fn resolved(base: &str, reference: &str) -> Option<String> {
    let mut address = Url::parse(base).ok()?.join(reference).ok()?;
    address.set_fragment(None);
    Some(address.into())
}

/// Decodes `%20` and the like; `None` if the result is not text.
fn unescaped(words: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(words.len());
    let mut rest = words.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).filter(|_| *first == b'%');
        let pair = pair.and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// The file extension in lower case.
fn ending(name: &str) -> String {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

/// The media type of an extension. Scripts and style sheets need the right one to be used.
fn media_type(reference: &str) -> Option<&'static str> {
    Some(match ending(reference).as_str() {
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "json" | "map" | "geojson" => "application/json",
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "wasm" => "application/wasm",
        "xml" => "text/xml",
        "txt" | "md" | "csv" | "tsv" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Kind;

    fn references<'a>(page: &'a [u8], files: &'a [SourceFile]) -> References<'a> {
        References::new(&Request { files, ..Request::new(page, Kind::Html) })
    }

    #[test]
    fn addresses_read_as_the_source_wrote_them() {
        let page = b"<img src='my pic.png'><img src='a%20b.png'>";
        let references = references(page, &[]);
        for reference in [
            "a.png",
            "img/a.png?v=2",
            "../up.png",
            "../../../far/up.png",
            "/rooted.css",
            "/rooted.css?x=1",
            "my pic.png",
            "a%20b.png",
            "http://example.org/a.png",
            "https://example.org/?q=%20",
        ] {
            let address = resolved(references.page_address(), reference).expect("an address");
            assert_eq!(references.written(&address), reference, "{address}");
        }
        assert_eq!(references.written("no address"), "no address");
    }

    #[test]
    fn files_are_found_by_their_reference() {
        let files: Vec<SourceFile> =
            ["../a b.css", "x.js#part", "https://example.org/p.png", "\0:"]
                .into_iter()
                .map(|reference| SourceFile { reference: reference.to_owned(), bytes: vec![1] })
                .collect();
        let references = references(b"", &files);
        let at = |reference: &str| {
            let address = resolved(references.page_address(), reference).expect("an address");
            references.file(&address).map(|served| served.media_type)
        };
        assert_eq!(at("../a%20b.css"), Some(Some("text/css")));
        assert_eq!(at("x.js"), Some(Some("text/javascript")));
        assert_eq!(at("https://example.org/p.png"), Some(Some("image/png")));
        assert_eq!(at("a b.css"), None);
        assert_eq!(at("page.html"), None);
    }

    #[test]
    fn a_page_is_taken_for_what_it_is() {
        assert_eq!(
            references("é".as_bytes(), &[]).page().media_type,
            Some("text/html; charset=utf-8")
        );
        assert_eq!(references(b"\xe9", &[]).page().media_type, Some("text/html"));
        let mut request = Request::new(b"<html/>", Kind::Html);
        request.wanted.name = Some("a/b.XHTML".to_owned());
        assert_eq!(References::new(&request).page().media_type, Some("application/xhtml+xml"));
    }
}

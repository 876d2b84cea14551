//! Counts the pages of a PDF without decoding anything in it.
//!
//! The file is not trusted: a page is counted if its object is found, and the count in the page
//! tree can only lower that number.

use super::Payload;

/// Maximum size of a file that is searched.
const MOST_BYTES: usize = 8 << 20;

/// Maximum length of an object that can be a page tree.
const LONGEST_OBJECT: usize = 1 << 20;

impl Payload<'_> {
    /// Returns the number of pages of a PDF. Returns `None` if the pages cannot be counted without
    /// decompressing it, if it is too large to be searched, and for anything that is not a PDF.
    pub fn pages(&self) -> Option<u32> {
        if self.decoded_len() > MOST_BYTES {
            return None;
        }
        count(&self.decode())
    }
}

fn count(pdf: &[u8]) -> Option<u32> {
    if !pdf.starts_with(b"%PDF-") {
        return None;
    }
    let (mut pages, mut claimed) = (0u32, None);
    for at in memchr::memmem::find_iter(pdf, b"/Type") {
        let rest = skip_spaces(&pdf[at + b"/Type".len()..]);
        match name(rest) {
            b"Page" => pages = pages.saturating_add(1),
            b"Pages" => claimed = claimed.max(claim(pdf, at)),
            // Objects are compressed together: pages may be among them.
            b"ObjStm" => return None,
            _ => {}
        }
    }
    (pages > 0).then(|| claimed.map_or(pages, |claimed| pages.min(claimed)))
}

/// Returns the `/Count` of the object around a position.
fn claim(pdf: &[u8], at: usize) -> Option<u32> {
    let from = at.saturating_sub(LONGEST_OBJECT);
    let start = memchr::memmem::rfind(&pdf[from..at], b" obj").map_or(from, |found| from + found);
    let end = pdf.len().min(at + LONGEST_OBJECT);
    let end = memchr::memmem::find(&pdf[at..end], b"endobj").map_or(end, |found| at + found);
    let object = &pdf[start..end];
    let count = memchr::memmem::find(object, b"/Count")? + b"/Count".len();
    let digits = skip_spaces(object.get(count..)?);
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
    (number > 0).then_some(number)
}

/// Returns the name that begins here, without its slash.
fn name(bytes: &[u8]) -> &[u8] {
    let Some(name) = bytes.strip_prefix(b"/") else { return &[] };
    let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    &name[..length]
}

fn skip_spaces(bytes: &[u8]) -> &[u8] {
    let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0).count();
    &bytes[spaces..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(pdf: &str) -> Option<u32> {
        Payload::encode(pdf.as_bytes()).pages()
    }

    #[test]
    fn pages_are_counted_where_they_are_seen() {
        let tree = "%PDF-1.4\n1 0 obj <</Type /Pages /Kids [2 0 R 3 0 R] /Count 2>> endobj\n";
        let page = |number: u32| format!("{number} 0 obj <</Type/Page /Parent 1 0 R>> endobj\n");
        assert_eq!(pages(&format!("{tree}{}{}", page(2), page(3))), Some(2));
        // A page that was changed later is in the file twice.
        assert_eq!(pages(&format!("{tree}{}{}{}", page(2), page(3), page(2))), Some(2));
        // The count in the page tree is not trusted.
        let tall = tree.replace("/Count 2", "/Count 4000000");
        assert_eq!(pages(&format!("{tall}{}", page(2))), Some(1));
        assert_eq!(pages(&format!("%PDF-1.4\n{}", page(2))), Some(1));
    }

    #[test]
    fn what_is_compressed_or_no_pdf_is_unknown() {
        assert_eq!(pages("%PDF-1.5\n1 0 obj <</Type /ObjStm /N 9>> stream"), None);
        assert_eq!(
            pages("%PDF-1.5\n1 0 obj <</Type /Page>> endobj 2 0 obj <</Type /ObjStm>>"),
            None
        );
        assert_eq!(pages("%PDF-1.5\n"), None);
        assert_eq!(pages("1 0 obj <</Type /Page>> endobj"), None);
        let long = format!("%PDF-1.4\n<</Type /Page>>{}", " ".repeat(MOST_BYTES));
        assert_eq!(pages(&long), None);
    }
}

//! PDF documents, made here: small, and odd on purpose.

use std::fmt::Write as _;

/// A document of these objects; the first is the catalog, and gets number 1.
pub(crate) fn pdf(objects: &[String]) -> Vec<u8> {
    pdf_with_trailer(objects, "")
}

/// The same, with more in its trailer.
pub(crate) fn pdf_with_trailer(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let count = objects.len() + 1;
    let _ = write!(
        file,
        "trailer\n<< /Size {count} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}

/// A stream with this content.
pub(crate) fn stream(content: &str) -> String {
    format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A document with one page: what its dictionary says besides the usual, and its content.
pub(crate) fn one_page(page: &str, content: &str) -> Vec<u8> {
    pdf(&page_objects(page, content))
}

/// The objects of such a document: catalog, pages, page, content, two fonts.
pub(crate) fn page_objects(page: &str, content: &str) -> Vec<String> {
    vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> {page} >>"
        ),
        stream(content),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>".to_owned(),
    ]
}

/// A document with so many pages, each with its number on it.
pub(crate) fn many_pages(count: usize) -> Vec<u8> {
    let kids: String = (0..count).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{kids}] /Count {count} /MediaBox [0 0 200 100] \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 0..count {
        let content = format!("BT /F1 40 Tf 20 40 Td (page {}) Tj ET", page + 1);
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", 5 + 2 * page));
        objects.push(stream(&content));
    }
    pdf(&objects)
}

/// The objects of a page with more in its resources, and more objects, from 7 on.
pub(crate) fn page_with(
    page: &str,
    resources: &str,
    content: &str,
    more: &[String],
) -> Vec<String> {
    let mut objects = page_objects(page, content);
    objects[2] = objects[2].replace("/Font <<", &format!("{resources} /Font <<"));
    objects.extend_from_slice(more);
    objects
}

/// A stream with more in its dictionary.
pub(crate) fn stream_with(dictionary: &str, content: &str) -> String {
    stream(content).replacen("<< ", &format!("<< {dictionary} "), 1)
}

/// A form that fills the page.
pub(crate) fn form(resources: &str, content: &str) -> String {
    let about =
        format!("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << {resources} >>");
    stream_with(&about, content)
}

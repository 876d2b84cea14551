//! Office documents by way of PDF: as approved, by pages, and refused for what they are.

use std::time::Instant;

use photic_render::{Area, Fit, Kind, Page, RefusalCode, Request, draw};

use crate::data;
use crate::programs::{assert_resembles, office};

fn source(name: &str) -> Vec<u8> {
    std::fs::read(data("sources/office").join(name)).expect("a source")
}

fn drawn(name: &str, number: u32) -> Option<Page> {
    let pdf = office()?.to_pdf(&source(name), name).expect("a PDF");
    let mut request = Request::new(&pdf, Kind::Pdf);
    request.wanted.page = number;
    request.wanted.fit = Fit::Longest(640);
    // A sheet of paper is mostly empty below a sheet of numbers.
    let top = Area { x: 30.0, y: 30.0, width: 400.0, height: 250.0 };
    request.wanted.region = name.contains("sheet").then_some(top);
    Some(draw(&request).expect("a page"))
}

fn look(names: &[&str]) {
    for name in names {
        let Some(page) = drawn(name, 1) else { return };
        assert_resembles(&format!("office_{}", name.replace('.', "_")), &page);
    }
}

#[test]
fn texts_look_as_approved() {
    look(&[
        "letter.docx",
        "letter.odt",
        "table_and_picture.docx",
        "table_and_picture.doc",
        "note.rtf",
    ]);
}

#[test]
fn sheets_look_as_approved() {
    look(&["sheet.xlsx", "sheet.ods", "sheet.xls", "chart.xlsx"]);
}

#[test]
fn slides_look_as_approved() {
    look(&["slides.pptx", "slides.odp"]);
    let Some(second) = drawn("slides.pptx", 2) else { return };
    assert_resembles("office_slides_2", &second);
    assert_eq!((second.facts.page, second.facts.pages), (2, 2));
}

#[test]
fn pages_are_those_of_the_document() {
    let Some(third) = drawn("three_pages.docx", 3) else { return };
    assert_resembles("office_three_pages_3", &third);
    assert_eq!((third.facts.page, third.facts.pages), (3, 3));
    assert_eq!(third.facts.size, (432.0, 324.0), "six inches by four and a half");
}

#[test]
fn what_cannot_be_opened_is_refused_for_what_it_is() {
    let Some(office) = office() else { return };
    let docx = source("letter.docx");
    let locked = source("locked.xlsx");
    let cases: [(&[u8], &str, RefusalCode); 8] = [
        (&locked, "locked.xlsx", RefusalCode::Encrypted),
        (b"", "a.docx", RefusalCode::Empty),
        (b"this is no document", "a.docx", RefusalCode::Corrupt),
        (&docx[..docx.len() / 2], "a.docx", RefusalCode::Corrupt),
        (&docx, "a.exe", RefusalCode::Corrupt),
        (&docx, "a.xls", RefusalCode::Corrupt),
        (b"PK\x03\x04", "a.odt", RefusalCode::Corrupt),
        (b"<html>", "a.pptx", RefusalCode::Corrupt),
    ];
    for (bytes, name, code) in cases {
        let refusal = office.to_pdf(bytes, name).expect_err(name);
        assert_eq!(refusal.code, code, "{name}: {refusal}");
        assert!(!refusal.hint.is_empty());
    }
}

#[test]
fn a_document_costs_so_much_from_cold() {
    let Some(office) = office() else { return };
    for name in ["letter.docx", "sheet.xlsx", "slides.pptx"] {
        let bytes = source(name);
        let begin = Instant::now();
        let pdf = office.to_pdf(&bytes, name).expect("a PDF");
        println!("{name} from cold: {} ms, {} bytes", begin.elapsed().as_millis(), pdf.len());
    }
}

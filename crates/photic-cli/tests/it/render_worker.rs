//! The binary as its own renderer: documents and text through `view`.

use std::path::{Path, PathBuf};

use photic_render::{Kind, Request, Worker};
use serde_json::Value;

use crate::{run, stderr, stdout};

#[test]
fn the_binary_draws_as_a_worker() {
    let worker = Worker::new(env!("CARGO_BIN_EXE_photic"), vec!["render-worker".into()]);
    let svg =
        b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 3'><path d='M0 0h4v3z'/></svg>";
    let page = worker.draw(&Request::new(svg, Kind::Svg)).unwrap();
    assert_eq!((page.raster.width, page.raster.height), (512, 384));
}

#[test]
fn people_are_not_told_about_it() {
    assert!(!stdout(&run(&["--help"])).contains("render-worker"));
    assert!(!stdout(&run(&["man"])).contains("render-worker"));
}

/// A folder that is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("photic-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn facts(arguments: &[&str]) -> Value {
    let output = run(&[&["view", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_region_of_a_drawing_is_drawn_anew() {
    let folder = Folder::new("zoom");
    // A line a tenth of a unit thick: scaled pixels would blur it, drawing again does not.
    let svg = folder.write(
        "fine.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='600'><rect width='800' \
         height='600' fill='white'/><rect x='104' y='50' width='0.1' height='40'/></svg>",
    );
    let whole = facts(&[&svg]);
    assert_eq!(whole["source_size"], serde_json::json!([800, 600]));
    let seen = folder.0.join("seen.png");
    let part = facts(&[&svg, "--region", "100,50,8,6", "-o", seen.to_str().unwrap()]);
    assert_eq!(part["region"], serde_json::json!({ "x": 100, "y": 50, "width": 8, "height": 6 }));
    assert!(part["scale"].as_f64().unwrap() > 100.0, "{part}");
    let pixels = decoded(&seen);
    let dark = |x: u32| pixels.rgb(x, pixels.height / 2)[0] < 40;
    let middle = pixels.width / 2;
    assert!(dark(middle + 2) && !dark(middle - 3), "a sharp black line stands in the middle");
}

fn decoded(path: &Path) -> photic_pixels::Raster {
    let bytes = std::fs::read(path).unwrap();
    let header = photic_pixels::header::probe(&bytes).unwrap();
    let (limits, wanted) = Default::default();
    photic_pixels::decode::decode(&bytes, &header, &limits, wanted).unwrap().raster
}

#[test]
fn a_pixel_of_code_leads_to_its_line_and_column() {
    let folder = Folder::new("code");
    let lines: Vec<String> = (1..=100).map(|n| format!("let value_{n} = {n};")).collect();
    let code = folder.write("main.rs", lines.join("\n"));
    let first = facts(&[&code]);
    let pages = first["pages"].as_u64().unwrap();
    assert!(pages > 1, "{first}");
    let last = facts(&[&code, "--page", &pages.to_string(), "--at", "300,36"]);
    let line = last["at"]["line"].as_u64().unwrap();
    assert!(line > 43 && last["at"]["column"].as_u64().unwrap() > 5, "{last}");
    let output = run(&["view", &code, "--page", &(pages + 1).to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no page"), "{}", stderr(&output));
    let output = run(&["view", &code, "--sheet"]);
    assert!(stderr(&output).contains("page by page"), "{}", stderr(&output));
}

#[test]
fn pictures_beside_a_text_are_shown_and_those_outside_are_not() {
    let folder = Folder::new("beside");
    let inner = folder.0.join("docs");
    std::fs::create_dir_all(&inner).unwrap();
    let picture = std::fs::read("../../captures/images/bars.png").unwrap();
    std::fs::write(inner.join("a picture.png"), &picture).unwrap();
    folder.write("secret.png", &picture);
    let text = inner.join("notes.md");
    let words = "# Notes\n\n![inside](a%20picture.png)\n\n![outside](../secret.png)\n\n\
                 ![far](http://127.0.0.1:9/far.png)\n";
    std::fs::write(&text, words).unwrap();
    let facts = facts(&[text.to_str().unwrap()]);
    let warnings = facts["warnings"].to_string();
    assert!(!warnings.contains("a%20picture.png"), "{warnings}");
    assert!(warnings.contains("../secret.png") && warnings.contains("far.png"), "{warnings}");
}

/// Two pages of words, made with other tools.
const LETTER: &str = "crates/photic-render/tests/sources/pdf/embedded_fonts.pdf";

#[test]
fn the_words_of_a_document_are_read_page_by_page() {
    let output = run(&["read", LETTER]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("fn main()"), "{}", stdout(&output));
    let output = run(&["read", LETTER, "--page", "9"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no page 9"), "{}", stderr(&output));
    let output = run(&["read", "README.md", "--page", "1"]);
    assert!(stderr(&output).contains("in lines, not in pages"), "{}", stderr(&output));
}

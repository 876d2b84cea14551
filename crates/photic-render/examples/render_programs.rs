//! Draws an HTML page or an office document from cold, and says what it took:
//! `render_programs <file> [<page> [<PNG to write>]]`.

use std::io::Write;
use std::time::Instant;

use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_render::{Browser, Kind, Office, Page, Refusal, Request, draw};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    let number = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(1);
    let bytes = std::fs::read(&path)?;
    let mut out = std::io::stdout().lock();
    let begin = Instant::now();
    match drawn(&bytes, &path, number) {
        Ok(page) => {
            writeln!(out, "{:?} in {:?}", page.raster, begin.elapsed())?;
            writeln!(out, "{:#?}", page.facts)?;
            let accepts = &["image/png"];
            let options = EncodeOptions { accepts, prefer: Prefer::Lossless, ..Default::default() };
            let png =
                encode(&page.raster, &options).map_err(|_| std::io::ErrorKind::InvalidData)?;
            arguments.next().map_or(Ok(()), |path| std::fs::write(path, png.bytes))
        }
        Err(refusal) => writeln!(out, "{refusal:?} in {:?}", begin.elapsed()),
    }
}

fn drawn(bytes: &[u8], path: &str, number: u32) -> Result<Page, Refusal> {
    let html = path.ends_with("html");
    let pdf = if html { Vec::new() } else { Office::find()?.to_pdf(bytes, path)? };
    let mut request =
        if html { Request::new(bytes, Kind::Html) } else { Request::new(&pdf, Kind::Pdf) };
    request.wanted.page = number;
    if html { Browser::find()?.draw(&request) } else { draw(&request) }
}

//! Programs of other makers in tests: left out where they are absent, unless they must be there,
//! and compared by a tolerance, because each of their versions draws a little differently.

use std::time::Duration;

use photic_pixels::{DecodeLimits, decode, header};
use photic_render::{Browser, Office, Page, ProgramLimits, Refusal};

use crate::approved::{png, rgba};
use crate::data;

/// Samples differ by so much on average, of 255.
const MEAN: f64 = 1.5;
/// So many of a thousand pixels differ by more than [`FAR`] in a sample: the edges of letters.
const PER_THOUSAND: usize = 10;
const FAR: u8 = 32;

/// Chromium, with room to breathe on a busy machine.
pub(crate) fn browser() -> Option<Browser> {
    let mut browser = found(Browser::find())?;
    browser.limits = ProgramLimits { time: Duration::from_secs(90), ..browser.limits };
    Some(browser)
}

/// Returns true if the programs must be installed. Then the long tests run, too.
pub(crate) fn needed() -> bool {
    std::env::var_os("PHOTIC_NEED_PROGRAMS").is_some()
}

/// The office suite, likewise.
pub(crate) fn office() -> Option<Office> {
    let mut office = found(Office::find())?;
    office.limits = ProgramLimits { time: Duration::from_secs(90), ..office.limits };
    Some(office)
}

fn found<T>(program: Result<T, Refusal>) -> Option<T> {
    match program {
        Ok(program) => Some(program),
        Err(refusal) => {
            assert!(!needed(), "{refusal}");
            println!("left out: {refusal}; {}", refusal.hint);
            None
        }
    }
}

/// Holds a page against the picture of this name, by the tolerance above.
pub(crate) fn assert_resembles(name: &str, page: &Page) {
    let path = data("approved").join(format!("{name}.png"));
    if std::env::var_os("PHOTIC_BLESS").is_some() {
        std::fs::write(&path, png(&page.raster)).expect("the picture is written");
    }
    let Ok(bytes) = std::fs::read(&path) else { panic!("no approved picture of `{name}`") };
    let header = header::probe(&bytes).expect("a picture");
    let wanted = decode::DecodeOptions::default();
    let approved =
        decode::decode(&bytes, &header, &DecodeLimits::default(), wanted).expect("pixels");
    let got = std::env::temp_dir().join(format!("photic-render-{name}.png"));
    let size = (approved.raster.width, approved.raster.height);
    let same_size = (page.raster.width, page.raster.height) == size;
    let (new, old) = (rgba(&page.raster), rgba(&approved.raster));
    let apart = |new: &[u8; 4], old: &[u8; 4]| -> [u8; 4] {
        std::array::from_fn(|sample| new[sample].abs_diff(old[sample]))
    };
    let differences: Vec<[u8; 4]> = new.iter().zip(&old).map(|(n, o)| apart(n, o)).collect();
    let total: u64 = differences.iter().flatten().map(|sample| u64::from(*sample)).sum();
    let mean = total as f64 / (differences.len() * 4) as f64;
    let far = differences.iter().filter(|pixel| pixel.iter().any(|s| *s > FAR)).count();
    if !same_size || mean > MEAN || far * 1_000 > PER_THOUSAND * new.len() {
        std::fs::write(&got, png(&page.raster)).expect("the picture is written");
        let count = new.len();
        panic!(
            "`{name}` differs by {mean:.2} on average, and {far} of {count} pixels by more than \
             {FAR}; what was drawn is {}",
            got.display()
        );
    }
    println!("{name}: {mean:.3} on average, {far} of {} pixels far off", new.len());
}

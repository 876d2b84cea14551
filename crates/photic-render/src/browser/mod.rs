//! Draws HTML pages with Chromium.
//!
//! The viewport is 1092 CSS pixels square, and a page is cut into sheets of that height. The page
//! is served from memory at a URL that does not exist; what it requests is answered from the files
//! that were handed over, or refused and listed. Scripts run in virtual time: two seconds of it
//! pass as fast as possible, starting at the same moment every time.

mod flags;
mod page;
mod pipe;
mod references;

use std::path::PathBuf;

use photic_pixels::{DecodeLimits, Raster, decode, header};

use crate::frame::{DefaultSize, Frame};
use crate::page::{Page, PageFacts};
use crate::program;
use crate::refusal::{Refusal, RefusalCode};
use crate::request::{Area, Request};
use crate::sandbox::{ProgramEnd, ProgramLimits, Sandbox, SandboxJob, font_files, not_started};

use page::Tab;
use pipe::{BrowserFailure, Pipe};
use references::References;

/// Width and height of the viewport, and the height of a sheet.
const SHEET: f64 = 1092.0;
/// Smallest height of a sheet: providers reject pictures with a very short edge.
const MIN_HEIGHT: f64 = 224.0;
/// Largest width of a page that is shown as a whole.
const MAX_WIDTH: f64 = 4.0 * SHEET;
/// A sheet is scaled only on request, or if the page is wider than the viewport.
const DEFAULT_SIZE: DefaultSize = DefaultSize { least: 1.0, most: SHEET };

/// Programs to look for. Known locations of the programs come before names on the path: the scripts
/// that packages put there read settings that the sandbox does not have.
const PROGRAMS: [&str; 8] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Chromium on this machine, with the sandbox it runs in.
#[derive(Clone, Debug)]
pub struct Browser {
    program: PathBuf,
    sandbox: Sandbox,
    /// Limits for one page.
    pub limits: ProgramLimits,
}

impl Browser {
    /// Finds the browser of this machine. The refusal names the packages to install.
    pub fn find() -> Result<Self, Refusal> {
        let absent = || program::absent("Chromium, which draws HTML pages,", "chromium bubblewrap");
        let program = program::find(&PROGRAMS).ok_or_else(absent)?;
        let sandbox = Sandbox::find()?;
        Ok(Self { program, sandbox, limits: ProgramLimits::default() })
    }

    /// Draws a page in a browser of its own. Blocks until it is drawn or the time is up.
    pub fn draw(&self, request: &Request<'_>) -> Result<Page, Refusal> {
        crate::draw::check_size(request)?;
        let job = SandboxJob {
            program: &self.program,
            arguments: flags::all(),
            files: font_files(request.fonts, ""),
            // The browser speaks through the descriptors 3 and 4.
            then: "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null",
            limits: self.limits,
        };
        let mut running = self.sandbox.start(job)?;
        let output = running.output().ok_or_else(not_started)?;
        let pipe = Pipe::new(&running, output);
        let mut tab = Tab::new(pipe, References::new(request));
        let drawn = self.shown(&mut tab, request);
        let answered = tab.answered();
        drop(tab);
        let ending = running.end();
        drawn.map_err(|stopped| match stopped {
            DrawFailure::Refused(refusal) => refusal,
            DrawFailure::Browser(broken) => self.failure(broken, ending, answered),
        })
    }

    /// Opens the page and takes a picture of the requested sheet.
    fn shown(&self, tab: &mut Tab<'_>, request: &Request<'_>) -> Result<Page, DrawFailure> {
        let wanted = &request.wanted;
        tab.prepare(wanted.theme)?;
        tab.open(self.limits.time / 2)?;
        tab.stop_animations()?;
        let (width, height) = tab.size()?;
        let pages = ((height / SHEET).ceil() as u32).max(1);
        let number = wanted.page;
        if number == 0 || number > pages {
            return Err(DrawFailure::Refused(no_such_page(number, pages)));
        }
        let top = f64::from(number - 1) * SHEET;
        let size = (width, (height - top).clamp(MIN_HEIGHT, SHEET));
        let mut wanted = wanted.clone();
        wanted.region = wanted.region.map(whole_pixels).or_else(|| window(size));
        let frame = Frame::new(size, &wanted, DEFAULT_SIZE)?;
        let raster = pixels(&tab.picture(&frame, top)?)?;
        let facts = PageFacts { page: number, pages, size, ..tab.missing() };
        Ok(Page { raster, to_page: frame.to_page(), facts })
    }

    /// The refusal for a browser that gave no picture.
    fn failure(&self, broken: BrowserFailure, ending: ProgramEnd, answered: bool) -> Refusal {
        let ending = match (ending, broken) {
            // Scripts that fill their heap crash the tab before the watcher notices.
            (ProgramEnd::Itself(peak), BrowserFailure::Crashed)
                if peak > self.limits.memory / 3 =>
            {
                ProgramEnd::TooMuchMemory
            }
            (ending, _) => ending,
        };
        match ending {
            ProgramEnd::TooSlow => Refusal::new(
                RefusalCode::TooSlow,
                format!("the page is not done after {} seconds", self.limits.time.as_secs()),
                "look for a script that does not end, or take a screenshot and view that",
            ),
            ProgramEnd::TooMuchMemory => Refusal::new(
                RefusalCode::TooMuchMemory,
                format!("the page takes more than {} MiB of memory", self.limits.memory >> 20),
                "ask for a smaller size or a region, or simplify the page",
            ),
            ProgramEnd::Itself(_) if answered => Refusal::new(
                RefusalCode::Crashed,
                "the browser broke on it",
                "simplify the page, or take a screenshot and view that",
            ),
            ProgramEnd::Itself(_) => not_started(),
        }
    }
}

/// The reason why drawing stopped.
enum DrawFailure {
    Refused(Refusal),
    Browser(BrowserFailure),
}

impl From<Refusal> for DrawFailure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<BrowserFailure> for DrawFailure {
    fn from(broken: BrowserFailure) -> Self {
        Self::Browser(broken)
    }
}

/// The left side of a page that is too wide to read in one picture. The page's size tells how much
/// more there is.
fn window((width, height): (f64, f64)) -> Option<Area> {
    (width > MAX_WIDTH).then_some(Area { x: 0.0, y: 0.0, width: SHEET, height })
}

/// Widens a region to whole pixels, since the browser places it on those.
fn whole_pixels(area: Area) -> Area {
    let (x, y) = (area.x.floor(), area.y.floor());
    let (right, bottom) = ((area.x + area.width).ceil(), (area.y + area.height).ceil());
    Area { x, y, width: right - x, height: bottom - y }
}

/// Decodes the picture like untrusted data, since the browser has read hostile bytes.
fn pixels(png: &[u8]) -> Result<Raster, DrawFailure> {
    let broken = |_| DrawFailure::Browser(BrowserFailure::Nonsense);
    let header = header::probe(png).map_err(broken)?;
    let limits = DecodeLimits { file_bytes: png.len(), ..DecodeLimits::default() };
    let wanted = decode::DecodeOptions::default();
    Ok(decode::decode(png, &header, &limits, wanted).map_err(broken)?.raster)
}

/// The refusal of a page number.
fn no_such_page(number: u32, pages: u32) -> Refusal {
    let hint = match pages {
        1 => "ask for page 1".to_owned(),
        _ => format!("ask for a page from 1 to {pages}"),
    };
    let says = format!("there is no page {number}: it is {pages} high");
    Refusal::new(RefusalCode::NoSuchPage, says, hint)
}

//! One tab with one page, from the blank page to the picture.
//!
//! Answers the requests of the page. The page is served once: one that reloads itself or navigates
//! away stays where it is.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::SHEET;
use super::pipe::{BrowserFailure, Pipe};
use super::references::{References, ServedFile};
use crate::fonts::{MONO, SANS, SERIF};
use crate::frame::Frame;
use crate::page::{LeftOut, Missing, PageFacts};
use crate::request::Theme;

/// Virtual milliseconds that pass for the page; charts have drawn themselves by then.
const VIRTUAL_TIME_MS: u32 = 2_000;
/// The time for the page, in seconds since 1970: the first day of 2026.
const VIRTUAL_NOW: u32 = 1_767_225_600;
/// Largest number of tasks at one moment of virtual time.
const MAX_TASKS: u32 = 1_000;
/// Time to wait for a picture before virtual time continues.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest length that a browser lays out.
const MAX_LENGTH: f64 = 40_000_000.0;

/// Script that returns the lowest visible point of a page, or null for a page with too many
/// elements.
///
/// In quirks mode the body is as high as the window, so its content is measured instead.
const LOWEST_POINT: &str = "(() => {
  const all = document.getElementsByTagName('*');
  if (all.length > 20000) return null;
  const old = document.compatMode === 'BackCompat' ? document.body : null;
  let lowest = 0;
  const see = (box) => {
    if (box.width > 0 && box.height > 0) lowest = Math.max(lowest, box.bottom + scrollY);
  };
  for (const element of all) {
    if (!old || (element !== old && element !== document.documentElement)) {
      see(element.getBoundingClientRect());
    }
  }
  if (old) {
    const range = document.createRange();
    range.selectNodeContents(old);
    see(range.getBoundingClientRect());
    lowest += parseFloat(getComputedStyle(old).marginBottom) || 0;
  }
  return lowest;
})()";

/// Script that finishes all animations, or pauses endless ones, and returns the number of the
/// latter.
const STOP_ANIMATIONS: &str = "(() => {
  let endless = 0;
  for (const motion of document.getAnimations()) {
    try { motion.finish(); } catch { motion.pause(); motion.currentTime = 2000; endless++; }
  }
  return endless;
})()";

/// The progress of a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TabStage {
    Blank,
    /// The browser has the bytes of the page.
    Served,
    /// The page is what the tab shows.
    Shown,
    /// Its time has passed.
    Settled,
}

/// A tab.
pub(super) struct Tab<'a> {
    pipe: Pipe<'a>,
    references: References<'a>,
    /// ID of the tab, which is also that of its main frame.
    target: Option<String>,
    session: Option<String>,
    answered: bool,
    stage: TabStage,
    missing: PageFacts,
}

impl<'a> Tab<'a> {
    pub(super) fn new(pipe: Pipe<'a>, references: References<'a>) -> Self {
        Self {
            pipe,
            references,
            target: None,
            session: None,
            answered: false,
            stage: TabStage::Blank,
            missing: PageFacts::single((SHEET, SHEET)),
        }
    }

    /// Returns `true` if the browser has sent anything.
    pub(super) fn answered(&self) -> bool {
        self.answered
    }

    /// The resources that the page requested in vain, as facts of a page.
    pub(super) fn missing(&self) -> PageFacts {
        self.missing.clone()
    }

    /// Takes the browser's first tab and configures it identically on every machine.
    pub(super) fn prepare(&mut self, theme: Theme) -> Result<(), BrowserFailure> {
        self.call("Target.setDiscoverTargets", json!({ "discover": true }))?;
        while self.target.is_none() {
            self.receive(None)?;
        }
        self.send("Browser.setDownloadBehavior", json!({ "behavior": "deny" }));
        let attach = json!({ "targetId": self.target, "flatten": true });
        let attached = self.call("Target.attachToTarget", attach)?;
        let session = attached["sessionId"].as_str().ok_or(BrowserFailure::Nonsense)?;
        self.session = Some(session.to_owned());

        let scheme = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        let families = json!({
            "standard": SERIF, "serif": SERIF, "sansSerif": SANS, "fixed": MONO,
            "cursive": SERIF, "fantasy": SANS, "math": SERIF,
        });
        // A setting that another version does not know changes the look of a page, not its rights.
        for (method, parameters) in [
            ("Page.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Page.setFontFamilies", json!({ "fontFamilies": families })),
            ("Emulation.setLocaleOverride", json!({ "locale": "en-US" })),
            ("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })),
            (
                "Emulation.setEmulatedMedia",
                json!({ "features": [
                    { "name": "prefers-color-scheme", "value": scheme },
                    { "name": "prefers-reduced-motion", "value": "reduce" },
                ] }),
            ),
            (
                "Emulation.setVirtualTimePolicy",
                json!({ "policy": "pause", "initialVirtualTime": VIRTUAL_NOW }),
            ),
        ] {
            self.send(method, parameters);
        }
        let viewport =
            json!({ "width": SHEET, "height": SHEET, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", viewport)?;
        self.call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] }))?;
        Ok(())
    }

    /// Opens the page and lets its virtual time pass, for a limited real time.
    pub(super) fn open(&mut self, patience: Duration) -> Result<(), BrowserFailure> {
        let until = Some(Instant::now() + patience);
        let address = json!({ "url": self.references.page_address() });
        self.send("Page.navigate", address);
        while self.stage < TabStage::Shown {
            if self.receive(until)?.is_none() {
                return Ok(());
            }
        }
        let pass = json!({
            "policy": "pauseIfNetworkFetchesPending",
            "budget": VIRTUAL_TIME_MS,
            "maxVirtualTimeTaskStarvationCount": MAX_TASKS,
        });
        self.send("Emulation.setVirtualTimePolicy", pass);
        while self.stage < TabStage::Settled {
            if self.receive(until)?.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Width and height of the page: at least as wide as the viewport, and only as high as its
    /// content.
    pub(super) fn size(&mut self) -> Result<(f64, f64), BrowserFailure> {
        let metrics = self.call("Page.getLayoutMetrics", json!({}))?;
        let length = |name: &str| {
            let length = metrics["cssContentSize"][name].as_f64().unwrap_or(SHEET);
            length.ceil().min(MAX_LENGTH)
        };
        let (width, height) = (length("width").max(SHEET), length("height"));
        if height > SHEET {
            return Ok((width, height));
        }
        // The browser reports the viewport's height for shorter pages.
        let lowest = self.evaluate(LOWEST_POINT)?.map_or(SHEET, f64::ceil);
        Ok((width, lowest.clamp(1.0, SHEET)))
    }

    /// Stops all animations, so that every picture shows the same moment.
    pub(super) fn stop_animations(&mut self) -> Result<(), BrowserFailure> {
        if self.evaluate(STOP_ANIMATIONS)?.is_some_and(|endless| endless > 0.0) {
            let says = "what moves without end stands still";
            self.missing.leave_out(LeftOut::new(Missing::Animation, says));
        }
        Ok(())
    }

    /// Evaluates a script in an isolated world, which scripts of the page cannot change.
    fn evaluate(&mut self, words: &str) -> Result<Option<f64>, BrowserFailure> {
        let world = json!({ "frameId": self.target });
        let world = self.ask("Page.createIsolatedWorld", world)?;
        let look = json!({
            "expression": words,
            "contextId": world["result"]["executionContextId"],
            "returnByValue": true,
        });
        let looked = self.ask("Runtime.evaluate", look)?;
        Ok(looked["result"]["result"]["value"].as_f64())
    }

    /// Takes a picture of the frame, drawn at its scale, as PNG.
    pub(super) fn picture(&mut self, frame: &Frame, top: f64) -> Result<Vec<u8>, BrowserFailure> {
        let clip = json!({
            "x": frame.area.x,
            "y": frame.area.y + top,
            "width": f64::from(frame.width) / frame.scale,
            "height": f64::from(frame.height) / frame.scale,
            "scale": frame.scale,
        });
        let capture = json!({
            "format": "png",
            "clip": clip,
            "captureBeyondViewport": true,
            "optimizeForSpeed": true,
        });
        let number = self.send("Page.captureScreenshot", capture);
        let picture = loop {
            match self.receive(Some(Instant::now() + PICTURE_TIMEOUT))? {
                Some(message) if message["id"].as_u64() == Some(number) => break message,
                Some(_) => {}
                // A tab with frames sometimes draws nothing while its time is paused; then time
                // continues until there is a picture.
                None => {
                    let on = json!({
                        "policy": "advance",
                        "maxVirtualTimeTaskStarvationCount": MAX_TASKS,
                    });
                    self.send("Emulation.setVirtualTimePolicy", on);
                }
            }
        };
        let data = picture["result"]["data"].as_str().ok_or(BrowserFailure::Nonsense)?;
        STANDARD.decode(data).map_err(|_| BrowserFailure::Nonsense)
    }

    /// Sends a command.
    fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.pipe.send(self.session.as_deref(), method, parameters)
    }

    /// Sends a command that must succeed.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Value, BrowserFailure> {
        let mut answer = self.ask(method, parameters)?;
        answer.get_mut("result").map(Value::take).ok_or(BrowserFailure::Nonsense)
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, BrowserFailure> {
        let number = self.send(method, parameters);
        loop {
            if let Some(message) = self.receive(None)?
                && message["id"].as_u64() == Some(number)
            {
                return Ok(message);
            }
        }
    }

    /// Receives one message and handles it.
    fn receive(&mut self, until: Option<Instant>) -> Result<Option<Value>, BrowserFailure> {
        let Some(message) = self.pipe.receive(until)? else { return Ok(None) };
        self.answered = true;
        let about = &message["params"];
        let ours = |name: &Value| name.is_string() && name.as_str() == self.target.as_deref();
        match message["method"].as_str().unwrap_or_default() {
            "Target.targetCreated" if about["targetInfo"]["type"] == "page" => {
                self.take_tab(&about["targetInfo"]["targetId"]);
            }
            "Target.targetCrashed" | "Target.targetDestroyed" if ours(&about["targetId"]) => {
                return Err(BrowserFailure::Crashed);
            }
            "Inspector.targetCrashed" => return Err(BrowserFailure::Crashed),
            "Page.frameNavigated"
                if self.stage == TabStage::Served && ours(&about["frame"]["id"]) =>
            {
                self.stage = TabStage::Shown;
            }
            "Emulation.virtualTimeBudgetExpired" if self.stage == TabStage::Shown => {
                self.stage = TabStage::Settled;
            }
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            "Fetch.requestPaused" => self.answer(about),
            _ => {}
        }
        Ok(Some(message))
    }

    /// Takes the first tab, and closes others that the page opens.
    fn take_tab(&mut self, name: &Value) {
        match &self.target {
            None => self.target = name.as_str().map(str::to_owned),
            Some(target) if *name != target.as_str() => {
                self.pipe.send(None, "Target.closeTarget", json!({ "targetId": name }));
            }
            Some(_) => {}
        }
    }

    /// Answers a request of the page.
    fn answer(&mut self, about: &Value) {
        let address = about["request"]["url"].as_str().unwrap_or_default();
        let outermost = about["resourceType"] == "Document"
            && about["frameId"].as_str() == self.target.as_deref();
        let request = &about["requestId"];
        let inside = ["data:", "blob:", "about:"].iter().any(|scheme| address.starts_with(scheme));
        if outermost && self.stage == TabStage::Blank {
            self.stage = TabStage::Served;
            let page = self.references.page();
            self.serve(request, &page);
        } else if let Some(file) = self.references.file(address).filter(|_| !outermost) {
            self.serve(request, &file);
        } else if inside && !outermost {
            self.send("Fetch.continueRequest", json!({ "requestId": request }));
        } else {
            // An aborted navigation stays on its page, and an aborted frame is empty. An error page
            // would be drawn by another process, and a picture might wait for that forever.
            let document = about["resourceType"] == "Document";
            let reason = if document { "Aborted" } else { "BlockedByClient" };
            self.send("Fetch.failRequest", json!({ "requestId": request, "errorReason": reason }));
            if !self.references.is_automatic(address) {
                let written = self.references.written(address);
                self.missing.leave_out(LeftOut::new(Missing::External, &written));
            }
        }
    }

    /// Answers a request with a file.
    fn serve(&mut self, request: &Value, served: &ServedFile<'_>) {
        let mut headers = vec![json!({ "name": "Access-Control-Allow-Origin", "value": "*" })];
        if let Some(media_type) = served.media_type {
            headers.push(json!({ "name": "Content-Type", "value": media_type }));
        }
        let answer = json!({
            "requestId": request,
            "responseCode": 200,
            "responseHeaders": headers,
            "body": STANDARD.encode(served.bytes),
        });
        self.send("Fetch.fulfillRequest", answer);
    }
}

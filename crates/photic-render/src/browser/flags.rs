//! How Chromium is started.

use std::ffi::OsString;

/// Letters and colors are the same on every machine, and nothing is done besides the page.
const FLAGS: [&str; 32] = [
    "--headless",
    "--remote-debugging-pipe",
    "--user-data-dir=/tmp/profile",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-print-preview",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,\
     AutofillServerCommunication,HttpsUpgrades,PaintHolding,IsolateOrigins,site-per-process",
    // One page, without secrets: its frames share a process, and its time.
    "--disable-site-isolation-trials",
    "--deny-permission-prompts",
    "--mute-audio",
    "--password-store=basic",
    "--renderer-process-limit=1",
    "--hide-scrollbars",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    // Nothing has an address, should a request ever get past us.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    // As a file on a disk is; else scripts would miss half of what they know.
    "--unsafely-treat-insecure-origin-as-secure=http://photic.invalid",
    // The same numbers every time, and an end to heaps that only grow.
    "--js-flags=--random-seed=1,--max-old-space-size=512",
];

/// All arguments, the page to start with last.
pub(super) fn all() -> Vec<OsString> {
    FLAGS.iter().chain(&["about:blank"]).map(OsString::from).collect()
}

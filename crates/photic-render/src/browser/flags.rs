//! The arguments with which Chromium is started.

use std::ffi::OsString;

/// Fonts and colors are the same on every machine, and the browser does nothing but show the page.
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
    // One page without secrets: its frames share a process and its time.
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
    // No name resolves, should a request ever get past us.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    // As for a local file; otherwise scripts would miss many APIs.
    "--unsafely-treat-insecure-origin-as-secure=http://photic.invalid",
    // The same random numbers every time, and a limit on heaps that only grow.
    "--js-flags=--random-seed=1,--max-old-space-size=512",
];

/// All arguments, with the start page last.
pub(super) fn all() -> Vec<OsString> {
    FLAGS.iter().chain(&["about:blank"]).map(OsString::from).collect()
}

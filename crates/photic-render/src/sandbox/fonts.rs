//! The fonts for programs in the sandbox: the built-in ones and those handed over.
//!
//! Programs see the same fonts on every machine.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::fonts::{FILES, MONO, SANS, SERIF};

/// Path of the fontconfig file.
pub(super) const SETTINGS: &str = "/tmp/fonts/fonts.conf";

/// Common families and their replacements. Programs that look families up by name take no
/// replacement, so the fonts are listed under these names.
const REPLACEMENTS: [(&str, &[&str]); 3] = [
    (
        SANS,
        &[
            "Arial",
            "Helvetica",
            "Helvetica Neue",
            "Verdana",
            "Tahoma",
            "Calibri",
            "Segoe UI",
            "Roboto",
            "Liberation Sans",
            "sans-serif",
            "system-ui",
        ],
    ),
    (SERIF, &["Times New Roman", "Times", "Georgia", "Cambria", "Liberation Serif", "serif"]),
    (
        MONO,
        &["Courier New", "Courier", "Consolas", "Menlo", "Monaco", "Liberation Mono", "monospace"],
    ),
];

/// The font files for [`SandboxJob::files`](super::SandboxJob), with a system folder of fonts that
/// come with the program.
pub(crate) fn files(handed: &[Vec<u8>], more: &str) -> Vec<(String, Cow<'static, [u8]>)> {
    let own = FILES.iter().map(|file| Cow::Borrowed(*file));
    let handed = handed.iter().map(|file| Cow::Owned(file.clone()));
    let mut files: Vec<(String, Cow<'static, [u8]>)> = own
        .chain(handed)
        .enumerate()
        .map(|(number, file)| (format!("fonts/{number}.ttf"), file))
        .collect();
    files.push(("fonts/fonts.conf".to_owned(), Cow::Owned(settings(more).into_bytes())));
    files
}

/// The fontconfig file.
fn settings(more: &str) -> String {
    let more = if more.is_empty() { String::new() } else { format!("<dir>{more}</dir>") };
    let mut named = String::new();
    for (family, name) in
        REPLACEMENTS.iter().flat_map(|(family, names)| names.iter().map(move |name| (family, name)))
    {
        let _ = writeln!(
            named,
            "<match target='scan'><test name='family'><string>{family}</string></test>\
             <edit name='family' mode='append'><string>{name}</string></edit></match>"
        );
    }
    // Without hinting, a letter has the same shape at every size, so a region looks like the whole.
    format!(
        "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'>\n<fontconfig>\n\
         <dir>/tmp/fonts</dir>{more}<cachedir>/tmp/fonts-cache</cachedir>\n{named}\
         <match target='pattern'><edit name='family' mode='append_last'>\
         <string>{SANS}</string></edit></match>\n\
         <match target='font'>\
         <edit name='antialias' mode='assign'><bool>true</bool></edit>\
         <edit name='hinting' mode='assign'><bool>false</bool></edit>\
         <edit name='autohint' mode='assign'><bool>false</bool></edit>\
         <edit name='hintstyle' mode='assign'><const>hintnone</const></edit>\
         <edit name='rgba' mode='assign'><const>none</const></edit></match>\n</fontconfig>\n"
    )
}

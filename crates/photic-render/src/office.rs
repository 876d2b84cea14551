//! Converts office documents to PDF with `LibreOffice`.
//!
//! The document goes in and the PDF comes out through pipes, with a new profile, without macros and
//! without following links. The PDF comes from a program that read hostile bytes, so a
//! [`Worker`](crate::Worker) draws it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use crate::program;
use crate::refusal::{Refusal, RefusalCode};
use crate::sandbox::{ProgramEnd, ProgramLimits, Sandbox, SandboxJob, font_files, not_started};

/// Programs to look for; known locations come before names on the path.
const PROGRAMS: [&str; 5] = [
    "/usr/lib/libreoffice/program/soffice",
    "/usr/lib64/libreoffice/program/soffice",
    "/opt/libreoffice/program/soffice",
    "soffice",
    "libreoffice",
];

/// Folder of `OpenSymbol`, which packages of the suite contain; without it, lists have no bullets.
const SYMBOLS: &str = "/usr/share/fonts/truetype/libreoffice";

/// Largest source and largest PDF, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Settings of the profile: nothing is run, followed, fetched or asked.
const SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
</oor:items>
"#;

/// `LibreOffice` on this machine, with the sandbox it runs in.
#[derive(Clone, Debug)]
pub struct Office {
    program: PathBuf,
    sandbox: Sandbox,
    /// Fonts that the host hands over, for scripts that the built-in fonts lack.
    pub fonts: Vec<Vec<u8>>,
    /// Limits for one document.
    pub limits: ProgramLimits,
}

impl Office {
    /// Finds the office suite of this machine. The refusal names the packages to install.
    pub fn find() -> Result<Self, Refusal> {
        let packages = "libreoffice-writer libreoffice-calc libreoffice-impress bubblewrap";
        let absent = || program::absent("LibreOffice, which opens office documents,", packages);
        let program = program::find(&PROGRAMS).ok_or_else(absent)?;
        let sandbox = Sandbox::find()?;
        // Twice the time of a cold start on a slow machine.
        let limits = ProgramLimits { time: Duration::from_mins(1), ..ProgramLimits::default() };
        Ok(Self { program, sandbox, fonts: Vec::new(), limits })
    }

    /// Converts a document to PDF. The extension of its name tells its format. Blocks until it is
    /// done or the time is up.
    pub fn to_pdf(&self, bytes: &[u8], name: &str) -> Result<Vec<u8>, Refusal> {
        let format = OfficeFormat::of(name).ok_or_else(|| unknown(name))?;
        check_size(bytes)?;
        if locked(bytes) {
            return Err(encrypted());
        }
        let mut files = font_files(&self.fonts, SYMBOLS);
        files.push(("profile/user/registrymodifications.xcu".into(), SETTINGS.as_bytes().into()));
        files.push((format!("source.{}", format.ending), Cow::Owned(bytes.to_vec())));
        let job = SandboxJob {
            program: &self.program,
            arguments: format.arguments(),
            files,
            then: "\"$@\" </dev/null >/dev/null 2>/dev/null; cat source.pdf 2>/dev/null",
            limits: self.limits,
        };
        let mut running = self.sandbox.start(job)?;
        let output = running.output().ok_or_else(not_started)?;
        let mut pdf = Vec::new();
        let read = output.take(MAX_BYTES as u64 + 1).read_to_end(&mut pdf);
        let ending = running.end();
        match (read, ending) {
            (_, ProgramEnd::TooSlow) => Err(self.too_slow()),
            (_, ProgramEnd::TooMuchMemory) => Err(self.too_much_memory()),
            (Ok(_), _) if pdf.len() > MAX_BYTES => Err(too_large(pdf.len(), "as PDF")),
            (Ok(_), _) if pdf.starts_with(b"%PDF") => Ok(pdf),
            (Ok(_) | Err(_), _) => Err(Refusal::new(
                RefusalCode::Corrupt,
                format!("LibreOffice cannot open it as {}", format.ending),
                "open it in the program that made it, and save it again or as PDF",
            )),
        }
    }

    /// The refusal of a document that takes too long.
    fn too_slow(&self) -> Refusal {
        let says = format!("opening it takes more than {} seconds", self.limits.time.as_secs());
        Refusal::new(RefusalCode::TooSlow, says, "save it as PDF, and view that")
    }

    /// The refusal of a document that takes too much memory.
    fn too_much_memory(&self) -> Refusal {
        let says = format!("opening it takes more than {} MiB of memory", self.limits.memory >> 20);
        Refusal::new(RefusalCode::TooMuchMemory, says, "save it as PDF, and view that")
    }
}

/// The format that a document is opened as. It is fixed, so that a text named `.docx` is not a
/// document.
struct OfficeFormat {
    ending: &'static str,
    filter: &'static str,
    export: &'static str,
}

impl OfficeFormat {
    /// The format of a file name.
    fn of(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.').unwrap_or(("", name));
        let writer = "pdf:writer_pdf_Export";
        let calc = "pdf:calc_pdf_Export";
        let impress = "pdf:impress_pdf_Export";
        let (ending, filter, export) = match ending.to_ascii_lowercase().as_str() {
            "docx" => ("docx", "MS Word 2007 XML", writer),
            "doc" => ("doc", "MS Word 97", writer),
            "odt" => ("odt", "writer8", writer),
            "rtf" => ("rtf", "Rich Text Format", writer),
            "xlsx" => ("xlsx", "Calc MS Excel 2007 XML", calc),
            "xls" => ("xls", "MS Excel 97", calc),
            "ods" => ("ods", "calc8", calc),
            "pptx" => ("pptx", "Impress MS PowerPoint 2007 XML", impress),
            "ppt" => ("ppt", "MS PowerPoint 97", impress),
            "odp" => ("odp", "impress8", impress),
            _ => return None,
        };
        Some(Self { ending, filter, export })
    }

    /// The arguments of the program.
    fn arguments(&self) -> Vec<OsString> {
        let fixed = [
            "-env:UserInstallation=file:///tmp/profile",
            "--headless",
            "--invisible",
            "--nodefault",
            "--nofirststartwizard",
            "--nolockcheck",
            "--nologo",
            "--norestore",
        ];
        let mut arguments: Vec<OsString> = fixed.iter().map(OsString::from).collect();
        arguments.push(format!("--infilter={}", self.filter).into());
        arguments.extend(["--convert-to", self.export, "--outdir", "/tmp"].map(OsString::from));
        arguments.push(format!("/tmp/source.{}", self.ending).into());
        arguments
    }
}

/// Refuses empty and oversized sources.
fn check_size(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.is_empty() {
        return Err(Refusal::new(RefusalCode::Empty, "there is nothing in it", "check the source"));
    }
    if bytes.len() > MAX_BYTES { Err(too_large(bytes.len(), "")) } else { Ok(()) }
}

/// Returns `true` if a password is needed. `LibreOffice` would only report a failure.
fn locked(bytes: &[u8]) -> bool {
    if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
        locked_binary(bytes)
    } else {
        locked_zip(bytes)
    }
}

/// Detects passwords of old binary formats, and of newer ones in their container.
fn locked_binary(bytes: &[u8]) -> bool {
    let wide = |name: &str| -> Vec<u8> { name.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let names = ["EncryptedPackage", "EncryptedSummary"].map(wide);
    if names.iter().any(|name| holds(bytes, name)) {
        return true;
    }
    bytes.chunks(512).any(|sector| match sector {
        // A text document has a flag in its header.
        [0xec, 0xa5, ..] => sector.get(11).is_some_and(|flags| flags & 1 == 1),
        // In a spreadsheet, the record after the first one asks for the password.
        [0x09, 0x08, length, 0, ..] => {
            let next = 4 + usize::from(*length);
            sector.get(next..next + 2) == Some(&[0x2f, 0][..])
        }
        _ => false,
    })
}

/// Detects passwords of `OpenDocument`: encrypted parts are not compressed, or everything is one
/// part.
fn locked_zip(bytes: &[u8]) -> bool {
    const NAME: usize = 30;
    let mut rest = bytes;
    while let Some(at) = rest.windows(4).position(|part| part == b"PK\x03\x04") {
        rest = &rest[at..];
        let field = |at: usize| match rest.get(at..at + 2) {
            Some(two) => usize::from(two[0]) | usize::from(two[1]) << 8,
            None => 0,
        };
        let (method, length, extra) = (field(8), field(26), field(28));
        let name = rest.get(NAME..NAME + length).unwrap_or_default();
        let content = rest.get(NAME + length + extra..).unwrap_or_default();
        if name == b"encrypted-package" {
            return true;
        }
        if name == b"content.xml" {
            return method == 0 && !content.starts_with(b"<");
        }
        rest = &rest[4..];
    }
    false
}

/// Returns `true` if bytes contain a sequence.
fn holds(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|part| part == words)
}

/// The refusal of a document with a password.
fn encrypted() -> Refusal {
    Refusal::new(
        RefusalCode::Encrypted,
        "the document is protected by a password",
        "ask for a copy without one",
    )
}

/// The refusal of an oversized document.
fn too_large(length: usize, how: &str) -> Refusal {
    let says = format!("it has {length} bytes {how}; {MAX_BYTES} are allowed").replace(" ;", ";");
    Refusal::new(RefusalCode::TooLarge, says, "use a smaller source")
}

/// The refusal of an unknown extension.
fn unknown(name: &str) -> Refusal {
    let says = format!("`{}` is no office document by its name", crate::page::clean(name));
    let hint = "name it by what it is: docx, xlsx, pptx, odt, ods, odp, rtf, doc, xls or ppt";
    Refusal::new(RefusalCode::Corrupt, says, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part of an archive: its method, name and content.
    fn part(method: u8, name: &str, content: &str) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend([20, 0, 0, 0, method, 0]);
        bytes.extend([0; 16]);
        bytes.extend([name.len() as u8, 0, 0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content.as_bytes());
        bytes
    }

    fn binary(sector: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xd0, 0xcf, 0x11, 0xe0];
        bytes.resize(512, 0);
        bytes.extend(sector);
        bytes.resize(2048, 0);
        bytes
    }

    #[test]
    fn a_password_is_seen() {
        let first = part(0, "mimetype", "application/vnd.oasis.opendocument.text");
        let open = [first.clone(), part(8, "content.xml", "\u{1}\u{2}")].concat();
        let plain = [first.clone(), part(0, "content.xml", "<?xml")].concat();
        let closed = [first.clone(), part(0, "content.xml", "\u{1}\u{2}")].concat();
        let wrapped = [first, part(0, "encrypted-package", "\u{1}")].concat();
        assert_eq!(
            [&open, &plain, &closed, &wrapped].map(|b| locked(b)),
            [false, false, true, true]
        );

        let text = |flags: u8| binary(&[0xec, 0xa5, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, flags]);
        assert_eq!([locked(&text(0x12)), locked(&text(0x13))], [false, true]);
        let sheet = |next: u8| binary(&[0x09, 0x08, 4, 0, 0, 6, 5, 0, next, 0, 2, 0]);
        assert_eq!([locked(&sheet(0xe1)), locked(&sheet(0x2f))], [false, true]);
        let named: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(locked(&binary(&named)));
        for short in [&b""[..], b"PK\x03\x04", b"\xd0\xcf\x11\xe0"] {
            assert!(!locked(short));
        }
    }

    #[test]
    fn a_document_is_opened_as_what_it_is_called() {
        let filter = |name: &str| OfficeFormat::of(name).map(|format| format.filter);
        assert_eq!(filter("a/b.DOCX"), Some("MS Word 2007 XML"));
        assert_eq!(filter("xls"), Some("MS Excel 97"));
        for name in ["", "a.exe", "a.docx.sh", "a.docx; rm", "a.html"] {
            assert_eq!(filter(name), None, "{name}");
        }
    }
}

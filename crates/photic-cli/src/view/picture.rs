//! The picture that `photic view` shows: a file, standard input, or a medium of a request body.

use std::path::{Path, PathBuf};

use anyhow::bail;
use photic::media::{Media, Source};
use photic::{Transcript, Wire};

use crate::arguments::ViewOptions;
use crate::body_format::BodyFormat;
use crate::input::{Input, read_bytes};
use crate::style::{CYAN, Hint};

/// A picture or document with its name.
pub(super) struct Picture {
    /// The name for messages.
    pub(super) name: String,
    /// The file name, from which the kind of a text is detected; empty if there is none.
    pub(super) file_name: String,
    /// The folder of the file, in which a document may name other files.
    pub(super) folder: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    /// The model that the request names, if the picture is part of one.
    pub(super) model: Option<String>,
    /// The wire of that request.
    pub(super) wire: Option<Wire>,
}

impl Picture {
    /// Reads the picture that the options name.
    pub(super) fn read(options: &ViewOptions) -> anyhow::Result<Self> {
        let input = read_bytes(Some(&options.source), "name a picture: `photic view page.png`")?;
        match options.image {
            Some(number) => Self::of_request(&input, number as usize),
            None => Ok(Self::of_file(&options.source, input)),
        }
    }

    /// The file itself.
    fn of_file(path: &Path, input: Input) -> Self {
        let is_file = path.as_os_str() != "-";
        if let Some(count) = media_of_request(&input.body).filter(|&count| count > 0) {
            anstream::eprintln!(
                "{CYAN}note:{CYAN:#} `{}` is a request with {count} {}; `--image 1` shows the first",
                input.name,
                if count == 1 { "image or document" } else { "images and documents" },
            );
        }
        let folder = path.parent().filter(|_| is_file).map(|folder| match folder.as_os_str() {
            nothing if nothing.is_empty() => PathBuf::from("."),
            _ => folder.to_owned(),
        });
        let file_name = path.file_name().filter(|_| is_file).and_then(|name| name.to_str());
        Self {
            file_name: file_name.unwrap_or_default().to_owned(),
            folder,
            name: input.name,
            bytes: input.body,
            model: None,
            wire: None,
        }
    }

    /// A medium of a request body, by its number from 1.
    fn of_request(input: &Input, number: usize) -> anyhow::Result<Self> {
        let Some(format) = format_of(&input.body) else { return input.unknown() };
        let (transcript, _) = format.lift(&input.body);
        if !transcript.is_readable() {
            return input.unknown();
        }
        let name = &input.name;
        let count = transcript.media.len();
        let Some(medium) = number.checked_sub(1).and_then(|index| transcript.media.get(index))
        else {
            let says = match count {
                0 => format!("there is no image in `{name}`"),
                1 => format!("there is no image {number} in `{name}`, which has 1"),
                _ => format!("there is no image {number} in `{name}`, which has {count}"),
            };
            let hint = "run `photic check` to see what a request holds; images count from 1";
            bail!(anyhow::anyhow!(says).context(Hint(hint)));
        };
        let bytes = bytes_of(medium, name, number)?;
        let model = transcript.settings.model.as_ref().map(|model| model.decode().into_owned());
        let wire = match format {
            BodyFormat::Wire(wire) => Some(wire),
            BodyFormat::Dump(_) => None,
        };
        Ok(Self {
            name: format!("{name}, image {number} of {count}"),
            file_name: file_name(medium),
            folder: None,
            bytes,
            model: model.filter(|model| !model.is_empty()),
            wire,
        })
    }
}

/// The bytes of a medium, if the request holds them.
fn bytes_of(medium: &Media<'_>, name: &str, number: usize) -> anyhow::Result<Vec<u8>> {
    let absent = |what: &str, hint: &'static str| {
        let says = format!("image {number} of `{name}` {what}");
        Err(anyhow::anyhow!(says).context(Hint(hint)))
    };
    match &medium.source {
        Source::Data(payload) => Ok(payload.decode()),
        Source::Text(text) => Ok(text.decode().into_owned().into_bytes()),
        Source::Url(_) => absent(
            "is a URL",
            "photic does not fetch URLs; pipe the picture in: `curl -sL URL | photic view -`",
        ),
        Source::File(_) => absent("is in the file store of the provider", "download it first"),
        Source::Missing => {
            absent("has no bytes", "run `photic check` to see what is wrong with it")
        }
    }
}

/// The file name that the sender gave a medium.
fn file_name(medium: &Media<'_>) -> String {
    medium.name.as_ref().map(|name| name.decode().into_owned()).unwrap_or_default()
}

/// The format of a body that is a conversation.
fn format_of(body: &[u8]) -> Option<BodyFormat> {
    let dump = photic::detect_dump(body).map(BodyFormat::Dump);
    dump.or_else(|| photic::detect(body).map(BodyFormat::Wire))
}

/// Number of media in a body that is a request; `None` for other files.
fn media_of_request(body: &[u8]) -> Option<usize> {
    // Pictures are not JSON, and a source file rarely is.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let format = format_of(body)?;
    let (transcript, _): (Transcript<'_>, _) = format.lift(body);
    transcript.is_readable().then_some(transcript.media.len())
}

//! Reads media from the strings that wires spell them with.

use crate::json::{NodeId, Str, Value};
use crate::media::{
    DataUrl, Found, Media, MediaKind, Payload, Source, Spelled, begins_with_data, is_reference,
    is_type, is_type_with_parameters, is_web_address, proper_name, sniff_kind, whole_string_image,
};

impl<'a> Media<'a> {
    /// Reads a string that holds base64, together with the type it declares.
    ///
    /// `kind` is the kind of media that belongs in this place. Whether it is a picture or a
    /// document is decided by the bytes.
    pub fn from_base64(value: Value<'_, 'a>, declared: Option<&Str<'a>>, kind: MediaKind) -> Self {
        base64_medium(value, declared, kind)
    }

    /// Reads a string that may be a data URL, an address, or bare base64.
    pub fn from_address(value: Value<'_, 'a>, kind: MediaKind) -> Self {
        address_medium(value, kind)
    }
}

/// Reads a medium from a string that may be a data URL, an address, or bare base64.
pub(crate) fn address_medium<'a>(value: Value<'_, 'a>, kind: MediaKind) -> Media<'a> {
    let text = value.str().unwrap_or(Str::plain(""));
    let tail = value.has_base64_tail();
    let (source, declared, found) = if let Some(url) = DataUrl::parse(&text, tail) {
        // Only for pictures is the correct spelling known.
        let is_fine = url.canonical || (kind != MediaKind::Image && url.payload.is_some());
        let found = if is_fine { Found::Typed } else { Found::Mended };
        (url.payload.map_or(Source::Missing, Source::Data), url.media_type, found)
    } else if is_web_address(&text) {
        (Source::Url(text), None, Found::Typed)
    } else if let Some(payload) = whole_string_image(&text, tail) {
        (Source::Data(payload), None, Found::Mended)
    } else {
        // Addresses of other schemes are between the client and its provider.
        (Source::Url(text), None, Found::Typed)
    };
    medium(kind, source, declared, found, value.id())
}

/// Reads a medium from bare base64 and the type declared beside it.
pub(crate) fn base64_medium<'a>(
    value: Value<'_, 'a>,
    declared: Option<&Str<'a>>,
    kind: MediaKind,
) -> Media<'a> {
    let text = value.str().unwrap_or(Str::plain(""));
    let label = declared.map(|label| label.decode().to_ascii_lowercase());
    let is_image = kind == MediaKind::Image;
    let good_label =
        label.as_deref().is_none_or(|label| is_type(label) && proper_name(label) == label);
    // For other media, the parameters hold information that the bytes do not.
    let is_named =
        |label: &str| if is_image { is_type(label) } else { is_type_with_parameters(label) };
    let is_misnamed = label.as_deref().is_some_and(|label| !is_named(label));
    let declared = label
        .filter(|label| is_named(label))
        .map(|label| Str::plain(proper_name(&label).to_owned()));
    if is_reference(&text) {
        return medium(kind, Source::Url(text), declared, Found::Typed, value.id());
    }
    let (source, declared, canonical) = match DataUrl::parse(&text, value.has_base64_tail()) {
        Some(url) => {
            (url.payload.map_or(Source::Missing, Source::Data), declared.or(url.media_type), false)
        }
        None => match Payload::read(&text, value.has_base64_tail()) {
            Some((payload, canonical)) => (Source::Data(payload), declared, canonical),
            None => (Source::Missing, declared, false),
        },
    };
    // Only for pictures is the correct spelling known.
    let is_fine = if is_image {
        canonical && good_label
    } else {
        matches!(source, Source::Data(_)) && !is_misnamed
    };
    let found = if is_fine { Found::Typed } else { Found::Mended };
    medium(kind, source, declared, found, value.id())
}

/// Reads the medium of a file slot, which holds a data URL or bare base64. An image does not
/// belong there.
pub(crate) fn file_medium<'a>(data: Value<'_, 'a>) -> Media<'a> {
    let is_url = data.str().is_some_and(|text| begins_with_data(&text));
    let mut media = if is_url {
        address_medium(data, MediaKind::Document)
    } else {
        base64_medium(data, None, MediaKind::Document)
    };
    let is_image = sniff_kind(&media.header()) == Some(MediaKind::Image);
    if is_image && !media.says_film_or_sound() {
        media.kind = MediaKind::Image;
        media.found = Found::Misfiled;
    }
    media
}

/// Returns the media type for the name of an audio format.
pub(crate) fn audio_type(format: &str) -> Str<'static> {
    Str::plain(match format {
        "mp3" => "audio/mpeg".to_owned(),
        other => format!("audio/{other}"),
    })
}

/// Creates a medium without a name or detail.
pub(crate) const fn medium<'a>(
    kind: MediaKind,
    source: Source<'a>,
    declared: Option<Str<'a>>,
    found: Found,
    node: NodeId,
) -> Media<'a> {
    Media {
        kind,
        source,
        declared,
        detail: None,
        name: None,
        found,
        spelled: Spelled::InFull,
        withheld: None,
        node,
        inner: None,
    }
}

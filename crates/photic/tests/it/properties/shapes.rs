//! The shapes in which clients serialize a tool's output into one string.

use photic_testkit::image;
use serde_json::{Map, Value, json};

use super::pictures::{Format, Picture};
use super::talk::Piece;

/// Who serialized it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    AiSdk6,
    AiSdk6Value,
    AiSdkMedia,
    AiSdk7,
    AiSdk7Bytes,
    NodeBuffer,
    Mcp,
    McpError,
    McpResource,
    Anthropic,
    ChatParts,
    ResponsesParts,
    /// Keys that a tool's author made up.
    Keys,
    NestedKeys,
    /// Nothing but base64 of one picture.
    Bare,
    /// Nothing but the data URL of one picture.
    DataUrl,
    /// A list of parts, stringified within JSON.
    JsonInJson,
    /// Once more.
    JsonInJsonInJson,
}

impl Shape {
    pub(super) const ALL: [Self; 18] = [
        Self::AiSdk6,
        Self::AiSdk6Value,
        Self::AiSdkMedia,
        Self::AiSdk7,
        Self::AiSdk7Bytes,
        Self::NodeBuffer,
        Self::Mcp,
        Self::McpError,
        Self::McpResource,
        Self::Anthropic,
        Self::ChatParts,
        Self::ResponsesParts,
        Self::Keys,
        Self::NestedKeys,
        Self::Bare,
        Self::DataUrl,
        Self::JsonInJson,
        Self::JsonInJsonInJson,
    ];

    /// Whether it holds exactly one picture and no words.
    pub(super) const fn is_single(self) -> bool {
        matches!(self, Self::Bare | Self::DataUrl)
    }

    /// Whether it is nothing but typed parts, or nothing but one picture.
    pub(super) const fn is_exact(self) -> bool {
        !matches!(
            self,
            Self::Keys
                | Self::NestedKeys
                | Self::McpError
                | Self::JsonInJson
                | Self::JsonInJsonInJson
        )
    }

    /// Whether readers must know a picture of such bytes in this shape.
    pub(super) const fn shows(self, format: Format) -> bool {
        match format {
            Format::Png
            | Format::Tall
            | Format::Jpeg
            | Format::Gif
            | Format::Webp
            | Format::Bmp => true,
            // Too long as numbers.
            Format::Heavy => !matches!(self, Self::AiSdk7Bytes | Self::NodeBuffer),
            // Only a typed part says that such bytes are a picture.
            Format::Svg => !matches!(
                self,
                Self::Keys | Self::NestedKeys | Self::Bare | Self::DataUrl | Self::McpError
            ),
            Format::Html | Format::Signature => false,
        }
    }

    /// The string.
    pub(super) fn write(self, pieces: &[Piece], pretty: bool) -> String {
        let list = || -> Value { pieces.iter().map(|piece| self.part(piece)).collect() };
        let value = match self {
            Self::Bare | Self::DataUrl => return self.single(pieces),
            Self::AiSdk6
            | Self::AiSdkMedia
            | Self::AiSdk7
            | Self::AiSdk7Bytes
            | Self::NodeBuffer
            | Self::Anthropic
            | Self::ChatParts
            | Self::ResponsesParts => list(),
            Self::AiSdk6Value => json!({"type": "content", "value": list()}),
            Self::Mcp | Self::McpResource => json!({"content": list(), "isError": false}),
            Self::McpError => json!({"content": list(), "isError": true}),
            Self::Keys => keys(pieces),
            Self::NestedKeys => json!({"ok": true, "result": {"page": keys(pieces), "n": 3}}),
            Self::JsonInJson => {
                let inner = Self::Mcp.write(pieces, false);
                json!({"status": "success", "result": inner})
            }
            Self::JsonInJsonInJson => {
                let inner = json!({"output": Self::AiSdk6.write(pieces, false)}).to_string();
                json!([{"type": "text", "text": inner}])
            }
        };
        if pretty { format!("{value:#}") } else { value.to_string() }
    }

    fn single(self, pieces: &[Piece]) -> String {
        let picture = pieces.iter().find_map(|piece| match piece {
            Piece::Picture(picture) => Some(picture),
            _ => None,
        });
        let bytes = picture.map(Picture::bytes).unwrap_or_default();
        match self {
            Self::DataUrl => {
                image::data_url(picture.map_or("image/png", Picture::media_type), &bytes)
            }
            _ => image::base64(&bytes),
        }
    }

    fn part(self, piece: &Piece) -> Value {
        let text = |words: &str| match self {
            Self::ResponsesParts => json!({"type": "input_text", "text": words}),
            _ => json!({"type": "text", "text": words}),
        };
        match piece {
            Piece::Words(words) => text(words),
            Piece::Picture(picture) => self.picture(picture),
            Piece::Paper(_) | Piece::Serialized(..) | Piece::Strange(_) => text("nothing"),
        }
    }

    fn picture(self, picture: &Picture) -> Value {
        let bytes = picture.bytes();
        let (label, data) = picture.base64();
        match self {
            Self::Anthropic => {
                let source = json!({"type": "base64", "media_type": label, "data": data});
                json!({"type": "image", "source": source})
            }
            Self::ChatParts => {
                json!({"type": "image_url", "image_url": {"url": picture.url()}})
            }
            Self::ResponsesParts => json!({"type": "input_image", "image_url": picture.url()}),
            Self::AiSdkMedia => json!({"type": "media", "data": data, "mediaType": label}),
            Self::AiSdk7 => {
                json!({"type": "file", "mediaType": label, "data": {"type": "data", "data": data}})
            }
            Self::AiSdk7Bytes => {
                let spelled = bytes.iter().enumerate();
                let spelled: Map<_, _> =
                    spelled.map(|(at, byte)| (at.to_string(), json!(byte))).collect();
                let data = json!({"type": "data", "data": spelled});
                json!({"type": "file", "mediaType": label, "data": data})
            }
            Self::NodeBuffer => {
                let data = json!({"type": "data", "data": {"type": "Buffer", "data": bytes}});
                json!({"type": "file", "mediaType": label, "data": data})
            }
            Self::McpResource => json!({
                "type": "resource",
                "resource": {"uri": "screenshot://current", "mimeType": label, "blob": data},
            }),
            Self::Mcp | Self::McpError => {
                json!({"type": "image", "data": data, "mimeType": label})
            }
            _ => json!({"type": "image-data", "data": data, "mediaType": label}),
        }
    }
}

/// An object with keys as tools make them up.
fn keys(pieces: &[Piece]) -> Value {
    const NAMES: [&str; 4] = ["screenshot", "base64_image", "image", "data"];
    let mut object = Map::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Picture(picture) => {
                let name = NAMES[picture.number % NAMES.len()];
                let is_url = picture.number.is_multiple_of(3);
                let text = if is_url { picture.url() } else { picture.base64().1 };
                object.insert(format!("{name}_{at}"), Value::String(text));
            }
            Piece::Words(words) => {
                object.insert(format!("note_{at}"), Value::String(words.clone()));
            }
            Piece::Paper(_) | Piece::Serialized(..) | Piece::Strange(_) => {}
        }
    }
    Value::Object(object)
}

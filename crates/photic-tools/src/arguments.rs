//! Arguments of the tools, used by the command line, MCP and the library.
//!
//! Ranges are written as in our own hints (`10-20`, `0,1200,800,400`), so that a hint can be copied
//! into a call.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use photic_pixels::geometry::Rect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Arguments of `read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadArguments {
    /// The file: a path below a root
    pub source: String,
    /// Lines, from 1: `10-20`, `10-` or `10`; all by default
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Lines>,
    /// Page of a document, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

impl ReadArguments {
    /// Creates arguments for the whole source, or its first page.
    pub fn of(source: impl Into<String>) -> Self {
        Self { source: source.into(), lines: None, page: None }
    }
}

/// Arguments of `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {
    /// A folder below a root; all roots if omitted
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Search folders below, too, for names with this part, or like `*.png`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Arguments of `view`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewArguments {
    /// The picture or document: a path below a root
    pub source: String,
    /// The part to show, in pixels of the original or units of the page, as `x,y,width,height`: zooming reads or draws it again
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Page or frame, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Level of detail
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// One of the tiles that cover a large picture at full resolution, from 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tile: Option<u32>,
    /// Pages or frames side by side, at most so many
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<u32>,
    /// Longest side of what is returned, in pixels
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_edge: Option<u32>,
    /// Most bytes of what is returned
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// Arguments of `inspect`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InspectArguments {
    /// The picture: a path below a root
    pub source: String,
    /// The question about it
    pub question: String,
}

/// Level of detail of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// What is it? A thumbnail of at most 512 px
    Glance,
    /// What does it say? As large as reading needs
    #[default]
    Read,
    /// Exactly what is there? As large as the model takes
    Pixel,
}

impl From<Fidelity> for photic_pixels::fit::Fidelity {
    fn from(fidelity: Fidelity) -> Self {
        match fidelity {
            Fidelity::Glance => Self::Glance,
            Fidelity::Read => Self::Read,
            Fidelity::Pixel => Self::Pixel,
        }
    }
}

/// A range of lines, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first line.
    pub first: usize,
    /// The last line; `None` for the end of the file.
    pub last: Option<usize>,
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "lines are wanted like `10-20`, `10-` or `10`, from 1".to_owned();
        let number = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = plain.then(|| text.parse::<usize>().ok()).flatten();
            number.filter(|number| *number > 0).ok_or_else(wanted)
        };
        let text = text.trim();
        let lines = match text.split_once('-') {
            None => number(text).map(|line| Self { first: line, last: Some(line) })?,
            Some((first, "")) => Self { first: number(first.trim())?, last: None },
            Some((first, last)) => {
                Self { first: number(first.trim())?, last: Some(number(last.trim())?) }
            }
        };
        if lines.last.is_some_and(|last| last < lines.first) {
            return Err(format!("lines {lines} end before they begin"));
        }
        Ok(lines)
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => write!(f, "{last}"),
            Some(last) => write!(f, "{}-{last}", self.first),
            None => write!(f, "{}-", self.first),
        }
    }
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Lines {
    /// Accepts a number as well, because models write a single line that way.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelling {
            Text(String),
            Line(u32),
        }
        let text = match Spelling::deserialize(deserializer)? {
            Spelling::Text(text) => text,
            Spelling::Line(line) => line.to_string(),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Lines {
    fn schema_name() -> Cow<'static, str> {
        "Lines".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(-[0-9]*)?$" })
    }
}

/// A rectangle of the source in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region(pub Rect);

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u32>, _> =
            text.split(',').map(|number| number.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[x, y, width, height]) => Ok(Self(Rect::new(x, y, width, height))),
            _ => Err("a region is wanted like `0,1200,800,400`: x,y,width,height".to_owned()),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rect { x, y, width, height } = self.0;
        write!(f, "{x},{y},{width},{height}")
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Region {
    /// Accepts arrays and objects as well, because models write them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelling {
            Text(String),
            List([u32; 4]),
            Named(Named),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Named {
            x: u32,
            y: u32,
            #[serde(alias = "w")]
            width: u32,
            #[serde(alias = "h")]
            height: u32,
        }
        match Spelling::deserialize(deserializer)? {
            Spelling::Text(text) => text.parse().map_err(serde::de::Error::custom),
            Spelling::List([x, y, width, height]) => Ok(Self(Rect::new(x, y, width, height))),
            Spelling::Named(Named { x, y, width, height }) => {
                Ok(Self(Rect::new(x, y, width, height)))
            }
        }
    }
}

impl JsonSchema for Region {
    fn schema_name() -> Cow<'static, str> {
        "Region".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+,[0-9]+,[0-9]+,[0-9]+$" })
    }
}

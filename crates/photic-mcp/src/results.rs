//! Writes results for MCP: text, picture, data, within a size limit.
//!
//! Bytes of media appear only in their content block.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ImageContent, MetaObject};
use serde::Serialize;
use serde_json::Value;

use crate::facts::RefusalFacts;

/// Longest result in characters. Hosts truncate longer ones, which destroys a picture.
pub const MAX_RESULT_CHARACTERS: usize = 1_048_576;
/// Characters reserved for text, data and envelope beside a picture.
const RESERVED: usize = 32 * 1024;
/// Largest picture in bytes that fits as base64.
pub(crate) const PICTURE_BYTES: u64 = ((MAX_RESULT_CHARACTERS - RESERVED) / 4 * 3) as u64;
/// Key of our data in `_meta`.
const META_KEY: &str = "photic.dev/result";

/// Output of a tool before it is written.
#[derive(Debug)]
pub(crate) struct ToolOutput {
    pub(crate) words: String,
    pub(crate) picture: Option<Picture>,
    pub(crate) data: Value,
    pub(crate) refused: bool,
}

/// A picture to show.
pub(crate) struct Picture {
    pub(crate) bytes: Vec<u8>,
    pub(crate) media_type: &'static str,
    /// Facts about it.
    pub(crate) data: Value,
}

impl std::fmt::Debug for Picture {
    /// Never shows the bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{}, {} bytes>", self.media_type, self.bytes.len())
    }
}

impl ToolOutput {
    /// Creates an output of text and data.
    pub(crate) fn of(words: String, data: &impl Serialize) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        Self { words, picture: None, data, refused: false }
    }

    /// Adds a picture.
    pub(crate) fn with(mut self, picture: Picture) -> Self {
        self.picture = Some(picture);
        self
    }

    /// Creates a refusal in the shape of every output schema.
    pub(crate) fn refused(refusal: &RefusalFacts) -> Self {
        let data = serde_json::json!({ "refusal": refusal });
        Self { words: refusal.words(), picture: None, data, refused: true }
    }

    /// Writes the result. Without structured content the data goes into `_meta`.
    pub(crate) fn written(self, structured: bool) -> CallToolResult {
        let result = self.unbounded(structured);
        if characters(&result) <= MAX_RESULT_CHARACTERS {
            return result;
        }
        let refusal = RefusalFacts {
            code: "too_large",
            says: format!("the result has more than {MAX_RESULT_CHARACTERS} characters"),
            hint: "ask for fewer lines, a region, or a smaller `max_bytes`".to_owned(),
            candidates: Vec::new(),
        };
        Self::refused(&refusal).unbounded(structured)
    }

    fn unbounded(self, structured: bool) -> CallToolResult {
        let mut content = vec![ContentBlock::text(self.words)];
        content.extend(self.picture.map(|picture| {
            let data = STANDARD.encode(&picture.bytes);
            let image = ImageContent::new(data, picture.media_type);
            ContentBlock::Image(image.with_meta(meta(picture.data)))
        }));
        let mut result = if self.refused {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        if structured {
            result.structured_content = Some(self.data);
        } else {
            result.meta = Some(meta(self.data));
        }
        result
    }
}

fn meta(data: Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(META_KEY.to_owned(), data);
    meta
}

/// Counts the characters of a result as it is sent.
fn characters(result: &CallToolResult) -> usize {
    serde_json::to_string(result).map_or(usize::MAX, |text| text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(bytes: usize) -> ToolOutput {
        let picture =
            Picture { bytes: vec![7; bytes], media_type: "image/png", data: Value::from(1) };
        ToolOutput::of("words".to_owned(), &serde_json::json!({"view": {}})).with(picture)
    }

    #[test]
    fn words_come_first_then_the_picture_then_data_without_bytes() {
        let result = serde_json::to_value(picture(30).written(true)).unwrap();
        assert_eq!(result["content"][0]["type"], "text");
        assert_eq!(result["content"][1]["type"], "image");
        assert_eq!(result["content"][1]["_meta"][META_KEY], 1);
        assert_eq!(result["structuredContent"], serde_json::json!({"view": {}}));
        assert_eq!(result["_meta"], Value::Null);
    }

    #[test]
    fn a_host_that_would_lose_the_picture_finds_the_data_in_meta() {
        let result = serde_json::to_value(picture(30).written(false)).unwrap();
        assert_eq!(result.get("structuredContent"), None);
        assert_eq!(result["_meta"][META_KEY], serde_json::json!({"view": {}}));
        assert_eq!(result["content"][1]["type"], "image");
    }

    #[test]
    fn the_largest_picture_fits_and_one_more_would_be_refused() {
        let fits = picture(PICTURE_BYTES as usize).written(true);
        assert_eq!(fits.is_error, Some(false));
        let too_much = picture(MAX_RESULT_CHARACTERS).written(true);
        assert_eq!(too_much.is_error, Some(true));
        assert!(characters(&too_much) < 2000);
        let said = serde_json::to_value(&too_much).unwrap();
        assert_eq!(said["structuredContent"]["refusal"]["code"], "too_large");
    }

    #[test]
    fn a_text_that_grows_when_it_is_quoted_is_bounded_as_it_is_sent() {
        let words = "\u{1}".repeat(MAX_RESULT_CHARACTERS / 6);
        let result = ToolOutput::of(words, &Value::Null).written(false);
        assert_eq!(result.is_error, Some(true));
    }
}

//! The page of an exported file: the viewer with script, style and data inside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::assets;

/// The tag that loads the style.
const STYLE_TAG: &str = "<link rel=\"stylesheet\" href=\"app.css\">";
/// The tag that loads the script.
const SCRIPT_TAG: &str = "<script src=\"app.js\"></script>";
/// The tag after which the policy stands: nothing before it loads anything.
const CHARSET_TAG: &str = "<meta charset=\"utf-8\">";

/// Returns the page with data inside. `None` if the viewer's page lacks a tag to replace.
pub(crate) fn page(data: &Value, head: &str) -> Option<Vec<u8>> {
    let page = std::str::from_utf8(assets::INDEX).ok()?;
    // Neither may end its element early.
    let script = std::str::from_utf8(assets::SCRIPT).ok()?.replace("</script", "<\\/script");
    let style = std::str::from_utf8(assets::STYLE).ok()?.replace("</style", "<\\/style");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
        hash(&script),
        hash(&style)
    );
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    let data = escaped(&data.to_string());
    let data = format!("<script type=\"application/json\" id=\"photic-data\">{data}</script>");
    let (before, after) = page.split_once(CHARSET_TAG)?;
    let (head_tags, rest) = after.split_once(STYLE_TAG)?;
    let (body, end) = rest.split_once(SCRIPT_TAG)?;
    let head = head.replace("--", "");
    Some(
        format!(
            "{before}{CHARSET_TAG}\n{policy}\n<!-- {head} -->{head_tags}<style>{style}</style>\
             {body}{data}\n<script>{script}</script>{end}"
        )
        .into_bytes(),
    )
}

/// Escapes JSON so that it cannot end its element.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_cannot_end_its_element_and_the_policy_names_both_hashes() {
        let hostile = json!({"text": "</script><script>alert(1)</script><!--"});
        let page = String::from_utf8(page(&hostile, "photic -- x").unwrap()).unwrap();
        let (_, data) = page.split_once("id=\"photic-data\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        assert_eq!(serde_json::from_str::<Value>(data).unwrap(), hostile);
        assert!(!page.contains("alert(1)</script>"));
        assert_eq!(page.matches("'sha256-").count(), 2);
        assert!(page.contains("default-src 'none'") && !page.contains("connect-src"));
        for tag in ["src=\"app.js\"", "href=\"app.css\""] {
            assert!(!page.contains(tag), "{tag}");
        }
    }
}

//! The MCP App of `view` (SEP-1865): a page that hosts draw beside the words of a view, with the
//! picture as the model got it, and the place in the original where a click lands.
//!
//! Only hosts that declare the extension are told of it. To others the server looks as if it had
//! none: no resources, and no more data in a result.

use rmcp::model::{
    CallToolResult, ClientCapabilities, JsonObject, ListResourcesResult, MetaObject, Resource,
    ResourceContents, ServerCapabilities, Tool,
};
use serde_json::{Value, json};

/// The address of the page.
pub(crate) const URI: &str = "ui://photic/view";
/// The tool whose results it draws.
const TOOL: &str = "view";
/// The type of its content.
const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The page: script and style inside, and a policy that allows nothing else.
const PAGE: &str = include_str!("../assets/view.html");

/// Returns whether a host draws such pages.
pub(crate) fn is_drawn_by(host: Option<&ClientCapabilities>) -> bool {
    let extensions = host.and_then(|host| host.extensions.as_ref());
    let settings = extensions.and_then(|extensions| extensions.get(EXTENSION));
    let types = settings.and_then(|settings| settings.get("mimeTypes")).and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|one| one == MIME_TYPE))
}

/// Adds to the capabilities what a host needs to know before it asks for the page.
pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.resources.get_or_insert_default();
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(EXTENSION.to_owned(), JsonObject::new());
}

/// Names the page at the tool whose results it draws.
pub(crate) fn link_tool(tool: Tool) -> Tool {
    if tool.name == TOOL { tool.with_meta(link()) } else { tool }
}

/// Names the page in a result, beside what its `_meta` has already.
pub(crate) fn link_result(tool: &str, result: &mut CallToolResult) {
    if tool == TOOL {
        result.meta.get_or_insert_default().0.extend(link().0);
    }
}

/// Returns the list of resources: the page alone.
pub(crate) fn resources() -> ListResourcesResult {
    let page = Resource::new(URI, "view")
        .with_title("What the model sees")
        .with_description("The picture of a view, where a click on it lands, and its fate")
        .with_mime_type(MIME_TYPE);
    ListResourcesResult::with_all_items(vec![page])
}

/// Returns the page. `None` if the address is not its own.
pub(crate) fn page(uri: &str) -> Option<ResourceContents> {
    // It asks no other host for anything, so it names none.
    let wishes = json!({ "csp": {}, "prefersBorder": true });
    (uri == URI).then(|| ResourceContents::TextResourceContents {
        uri: URI.to_owned(),
        mime_type: Some(MIME_TYPE.to_owned()),
        text: PAGE.to_owned(),
        meta: Some(meta(wishes)),
    })
}

fn link() -> MetaObject {
    meta(json!({ "resourceUri": URI }))
}

fn meta(ui: Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("ui".to_owned(), ui);
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(extensions: &Value) -> ClientCapabilities {
        serde_json::from_value(json!({ "extensions": extensions })).unwrap()
    }

    #[test]
    fn only_a_host_that_names_the_extension_and_the_type_draws_it() {
        assert!(is_drawn_by(Some(&host(&json!({ EXTENSION: { "mimeTypes": [MIME_TYPE] } })))));
        for other in [
            json!({}),
            json!({ EXTENSION: {} }),
            json!({ EXTENSION: { "mimeTypes": ["text/html"] } }),
            json!({ EXTENSION: { "mimeTypes": MIME_TYPE } }),
            json!({ "io.modelcontextprotocol/other": { "mimeTypes": [MIME_TYPE] } }),
        ] {
            assert!(!is_drawn_by(Some(&host(&other))), "{other}");
        }
        assert!(!is_drawn_by(Some(&ClientCapabilities::default())));
        assert!(!is_drawn_by(None));
    }

    #[test]
    fn the_page_is_whole_and_allows_itself_alone() {
        let Some(page) = page(URI) else { panic!("the page is there") };
        let page = serde_json::to_value(&page).unwrap();
        assert_eq!((&page["uri"], &page["mimeType"]), (&URI.into(), &MIME_TYPE.into()));
        assert_eq!(page["_meta"]["ui"]["csp"], json!({}));
        let text = page["text"].as_str().unwrap();
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
        assert!(text.len() < 100_000, "{}", text.len());
        let (_, policy) =
            text.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
        let (policy, rest) = policy.split_once('"').unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        for loose in ["unsafe", "connect-src", "http", "blob:", "*"] {
            assert!(!policy.contains(loose), "{policy}");
        }
        // Nothing stands before the policy but the letters of the page, and nothing is loaded.
        assert_eq!(rest.matches("<script>").count(), 1);
        for loads in ["src=\"", "href=\"", "@import", "innerHTML", "eval("] {
            assert!(!text.contains(loads), "{loads}");
        }
        assert!(super::page("ui://photic/other").is_none());
    }

    #[test]
    fn a_result_keeps_its_data_and_names_the_page() {
        let mut result = CallToolResult::success(Vec::new());
        link_result("view", &mut result);
        assert_eq!(result.meta.unwrap().0["ui"]["resourceUri"], URI);
        let mut result = CallToolResult::success(Vec::new());
        result.meta = Some(MetaObject(JsonObject::from_iter([("a".to_owned(), json!(1))])));
        link_result("view", &mut result);
        assert_eq!(
            serde_json::to_value(result.meta).unwrap(),
            json!({"a": 1, "ui": {"resourceUri": URI}})
        );
        let mut result = CallToolResult::success(Vec::new());
        link_result("probe", &mut result);
        assert_eq!(result.meta, None);
    }
}

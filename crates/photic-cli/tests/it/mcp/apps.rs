//! The MCP App of `view`: told to hosts that draw such pages, and to no others.

use photic_pixels::chart::Chart;
use serde_json::{Value, json};

use super::client::{Folder, PREVIOUS, Pipe, meta};

const URI: &str = "ui://photic/view";

fn extension() -> Value {
    json!({"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}})
}

/// Parameters of a host of the current version that draws such pages.
fn drawn(mut parameters: Value) -> Value {
    parameters["_meta"] = meta("test");
    parameters["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"] = extension();
    parameters
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("chart.png", Chart::of(7).png().unwrap());
    folder
}

#[test]
fn a_host_that_draws_them_finds_the_page() {
    let folder = folder("apps");
    let mut pipe = Pipe::start(&folder.0, &[]);
    let found = pipe.ask("server/discover", &drawn(json!({})))["result"].clone();
    assert!(found["capabilities"]["resources"].is_object(), "{found}");
    assert!(found["capabilities"]["extensions"]["io.modelcontextprotocol/ui"].is_object());
    let tools = pipe.ask("tools/list", &drawn(json!({})));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        let expected = if tool["name"] == "view" { json!(URI) } else { Value::Null };
        assert_eq!(tool["_meta"]["ui"]["resourceUri"], expected, "{}", tool["name"]);
    }
    let listed = pipe.ask("resources/list", &drawn(json!({})));
    assert_eq!(listed["result"]["resources"][0]["uri"], URI);
    let page = pipe.ask("resources/read", &drawn(json!({"uri": URI})));
    let page = &page["result"]["contents"][0];
    assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
    assert!(page["text"].as_str().unwrap().starts_with("<!doctype html>"));
    let other = pipe.ask("resources/read", &drawn(json!({"uri": "ui://photic/other"})));
    assert!(other["error"]["message"].as_str().unwrap().contains(URI), "{other}");
    for source in ["chart.png", "absent.png"] {
        let call = drawn(json!({"name": "view", "arguments": {"source": source}}));
        let seen = pipe.ask("tools/call", &call);
        assert_eq!(seen["result"]["_meta"]["ui"]["resourceUri"], URI, "{source}");
        assert!(seen["result"]["structuredContent"].is_object(), "{source}");
    }
}

#[test]
fn other_hosts_are_told_nothing_of_it() {
    let folder = folder("no-apps");
    let mut pipe = Pipe::start(&folder.0, &[]);
    let begun = pipe.initialize(PREVIOUS)["result"].clone();
    assert_eq!(begun["capabilities"].get("resources"), None, "{begun}");
    assert_eq!(begun["capabilities"].get("extensions"), None, "{begun}");
    pipe.tell("notifications/initialized", &json!({}));
    let tools = pipe.ask("tools/list", &json!({}));
    assert!(!tools.to_string().contains(URI), "{tools}");
    let seen = pipe.call("view", &json!({"source": "chart.png"}));
    assert!(!seen.to_string().contains(URI));
    let read = pipe.ask("resources/read", &json!({"uri": URI}));
    assert!(read["error"].is_object(), "{read}");
}

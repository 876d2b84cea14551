//! The current version of the protocol and the previous one.

use serde_json::json;

use super::client::{CURRENT, Folder, Listening, PREVIOUS, Pipe, meta, request};

#[test]
fn the_previous_version_is_negotiated_by_handshake() {
    let folder = Folder::new("previous");
    for asked in [PREVIOUS, "2025-06-18", "2025-03-26", "2024-11-05"] {
        let mut pipe = Pipe::start(&folder.0, &[]);
        let begun = pipe.initialize(asked);
        assert_eq!(begun["result"]["protocolVersion"], asked);
        assert_eq!(begun["result"]["serverInfo"]["name"], "photic");
        assert!(begun["result"]["instructions"].as_str().unwrap().contains("`view`"));
        assert_eq!(pipe.leave(), Some(0));
    }
}

/// The current version has no handshake; a client that starts one gets the newest version with one.
#[test]
fn a_handshake_for_the_current_version_ends_with_the_previous() {
    let folder = Folder::new("shake");
    let mut pipe = Pipe::start(&folder.0, &[]);
    assert_eq!(pipe.initialize(CURRENT)["result"]["protocolVersion"], PREVIOUS);
}

#[test]
fn the_current_version_needs_no_handshake() {
    let folder = Folder::new("current");
    folder.write("a.txt", "one\ntwo\n");
    let mut pipe = Pipe::start(&folder.0, &[]);
    let found = pipe.ask("server/discover", &json!({"_meta": meta("test")}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.iter().any(|one| one == CURRENT), "{found}");
    assert!(versions.iter().any(|one| one == PREVIOUS), "{found}");
    let call = json!({"name": "read", "arguments": {"source": "a.txt"}, "_meta": meta("test")});
    let answer = pipe.ask("tools/call", &call);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("two"));
    assert_eq!(pipe.leave(), Some(0));
}

#[test]
fn both_versions_are_spoken_over_http() {
    let folder = Folder::new("http-versions");
    folder.write("a.txt", "one\ntwo\n");
    let server = Listening::start(&folder.0);
    let call = json!({"name": "read", "arguments": {"source": "a.txt", "lines": "2"}});

    let session = server.session("test");
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", PREVIOUS)];
    let (status, _, messages) = server.post(&headers, &request(2, "tools/call", &call));
    let answer = messages.iter().find(|message| message["id"] == 2).unwrap();
    assert_eq!(status, 200);
    assert_eq!(answer["result"]["content"][0]["text"], "lines 2-2 of 2\ntwo\n", "{answer}");

    let mut call = call;
    call["_meta"] = meta("test");
    let headers =
        [("mcp-protocol-version", CURRENT), ("mcp-method", "tools/call"), ("mcp-name", "read")];
    let (status, head, messages) = server.post(&headers, &request(3, "tools/call", &call));
    assert_eq!(status, 200, "{messages:?}");
    assert!(!head.contains("mcp-session-id"), "{head}");
    let answer = messages.iter().find(|message| message["id"] == 3).unwrap();
    assert_eq!(answer["result"]["_meta"]["photic.dev/result"]["read"]["first_line"], 2);

    // A session that ended is not known any more.
    let gone = [("mcp-session-id", session.as_str())];
    server.send("DELETE", "/mcp", &gone, "");
    assert_eq!(server.post(&gone, &request(4, "tools/list", &json!({}))).0, 404);
}

//! Blob storage: objects are readable by their tenant only, and signed URLs expire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_openwop::OpenwopRequest;
use serde_json::{Value, json};

use crate::host::{Fake, KEY, OTHER, SURFACE, json_of};

/// Sends one operation like the suite.
fn call(host: &Fake, tenant: &str, op: &str, args: &Value) -> (u16, Value) {
    call_as(KEY, host, tenant, op, args)
}

fn call_as(key: &str, host: &Fake, tenant: &str, op: &str, args: &Value) -> (u16, Value) {
    let body = json!({"tenantId": tenant, "surface": "blob", "op": op, "args": args});
    host.post_as(key, SURFACE, &body)
}

fn put(host: &Fake, tenant: &str, key: &str, content: &[u8], content_type: &str) -> Value {
    let content = STANDARD.encode(content);
    let args = json!({"key": key, "contentBase64": content, "contentType": content_type});
    let (status, told) = call(host, tenant, "put", &args);
    assert_eq!(status, 200, "{told}");
    told
}

#[test]
fn what_was_put_is_got() {
    let host = Fake::default();
    let content: Vec<u8> = (0..=255).collect();
    let stored = put(&host, "tenant-a", "k", &content, "image/x-any");
    let (status, got) = call(&host, "tenant-a", "get", &json!({"key": "k"}));
    let expected = json!({
        "found": true,
        "contentBase64": STANDARD.encode(&content),
        "contentType": "image/x-any",
        "sizeBytes": 256,
        "etag": stored["etag"],
    });
    assert_eq!((status, got), (200, expected));
    assert_eq!(stored["sizeBytes"], 256);
    // Equal content has an equal tag, and other content has another.
    assert_eq!(put(&host, "b", "l", &content, "image/x-other")["etag"], stored["etag"]);
    assert_ne!(put(&host, "b", "l", b"other", "image/x-any")["etag"], stored["etag"]);
    let probe = call(&host, "tenant-a", "get", &json!({"key": "__probe__"}));
    assert_eq!(probe, (200, json!({"found": false})));
    let deleted = |key| call(&host, "tenant-a", "delete", &json!({"key": key}));
    assert_eq!(deleted("k"), (200, json!({"deleted": true})));
    assert_eq!(deleted("k"), (200, json!({"deleted": false})));
}

#[test]
fn no_tenant_sees_another_by_key_by_name_or_by_bucket() {
    let host = Fake::default();
    put(&host, "tenant-a", "k", b"from-A", "text/plain");
    let none = (200, json!({"found": false}));
    assert_eq!(call(&host, "tenant-b", "get", &json!({"bucket": "default", "key": "k"})), none);
    assert_eq!(call(&host, "tenant-a", "get", &json!({"bucket": "other", "key": "k"})), none);
    // Another key is another tenant, whatever the body says.
    assert_eq!(call_as(OTHER, &host, "tenant-a", "get", &json!({"key": "k"})), none);
    let empty = (200, json!({"entries": []}));
    assert_eq!(call_as(OTHER, &host, "tenant-a", "list", &json!({})), empty);
    assert_eq!(
        call_as(OTHER, &host, "tenant-a", "delete", &json!({"key": "k"})).1["deleted"],
        false
    );
    let presign = json!({"key": "k", "expiresInSeconds": 2});
    let refused = call_as(OTHER, &host, "tenant-a", "presign", &presign);
    assert_eq!((refused.0, &refused.1["error"]), (404, &json!("blob_object_not_found")));
    assert_eq!(call(&host, "tenant-a", "get", &json!({"key": "k"})).1["found"], true);
    // Names do not run together: `a` with `b/c` is not `a/b` with `c`.
    put(&host, "a", "b/c", b"x", "text/plain");
    assert_eq!(call(&host, "a/b", "get", &json!({"key": "c"})), none);
}

#[test]
fn names_are_neither_empty_nor_endless() {
    let host = Fake::default();
    let long = "n".repeat(1024);
    let longer = "n".repeat(1025);
    let got = |tenant: &str, bucket: &str, key: &str| {
        call(&host, tenant, "get", &json!({"bucket": bucket, "key": key})).0
    };
    assert_eq!(got(&long, &long, &long), 200);
    for (tenant, bucket, key) in [
        ("", "b", "k"),
        ("t", "", "k"),
        (longer.as_str(), "b", "k"),
        ("t", longer.as_str(), "k"),
        ("t", "b", longer.as_str()),
    ] {
        assert_eq!(
            got(tenant, bucket, key),
            400,
            "{} {} {}",
            tenant.len(),
            bucket.len(),
            key.len()
        );
    }
}

#[test]
fn lists_have_pages() {
    let host = Fake::default();
    for key in ["p/1", "p/2", "p/3", "q"] {
        put(&host, "a", key, b"12345", "text/plain");
    }
    let (_, page) = call(&host, "a", "list", &json!({"prefix": "p/"}));
    let entry = |key: &str| json!({"key": key, "sizeBytes": 5});
    assert_eq!(page, json!({"entries": [entry("p/1"), entry("p/2")], "nextCursor": "p/2"}));
    let (_, rest) = call(&host, "a", "list", &json!({"prefix": "p/", "cursor": "p/2"}));
    assert_eq!(rest, json!({"entries": [entry("p/3")]}));
}

#[test]
fn a_signed_address_shows_until_its_time_and_not_after() {
    let host = Fake::default();
    put(&host, "tenant-a", "pre", b"presigned-payload", "text/plain");
    let args = json!({"key": "pre", "expiresInSeconds": 2});
    let (status, signed) = call(&host, "tenant-a", "presign", &args);
    assert_eq!(status, 200);
    assert_eq!(signed["expiresAtMs"], json!(host.now() + 2000));
    let url = signed["url"].as_str().unwrap().to_owned();
    // The URL works without a key.
    let within = host.ask(OpenwopRequest::get(&url));
    assert_eq!((within.status, &within.body[..]), (200, b"presigned-payload".as_slice()));
    assert_eq!(within.header("content-type"), Some("text/plain"));
    assert_eq!(within.header("x-content-type-options"), Some("nosniff"));
    // A changed URL is refused like an expired one.
    let mut changed = url.clone();
    changed.replace_range(url.len() - 1.., if url.ends_with('0') { "1" } else { "0" });
    let refused = host.ask(OpenwopRequest::get(&changed));
    assert_eq!(
        (refused.status, &json_of(&refused)["error"]),
        (403, &json!("blob_presign_expired"))
    );
    host.later(1999);
    assert_eq!(host.ask(OpenwopRequest::get(&url)).status, 200);
    host.later(1);
    assert_eq!(host.ask(OpenwopRequest::get(&url)), refused);
    for (args, status) in [
        (json!({"key": "pre", "expiresInSeconds": 604_800}), 200),
        (json!({"key": "none", "expiresInSeconds": 2}), 404),
        (json!({"key": "pre", "expiresInSeconds": 0}), 400),
        (json!({"key": "pre", "expiresInSeconds": 604_801}), 400),
        (json!({"key": "pre", "expiresInSeconds": "2"}), 400),
        (json!({"key": "pre"}), 400),
        (json!({"key": "pre", "expiresInSeconds": 2, "method": "PUT"}), 400),
    ] {
        assert_eq!(call(&host, "tenant-a", "presign", &args).0, status, "{args}");
    }
}

#[test]
fn nothing_is_shown_that_a_browser_would_run() {
    let host = Fake::default();
    for (content_type, shown) in [
        ("text/html", "application/octet-stream"),
        ("TEXT/HTML; charset=utf-8", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("image/png", "image/png"),
    ] {
        put(&host, "a", "k", b"<script>", content_type);
        let (_, signed) = call(&host, "a", "presign", &json!({"key": "k", "expiresInSeconds": 9}));
        let answer = host.ask(OpenwopRequest::get(signed["url"].as_str().unwrap()));
        assert_eq!(answer.header("content-type"), Some(shown), "{content_type}");
        let how = if shown == content_type { "inline" } else { "attachment" };
        assert_eq!(answer.header("content-disposition"), Some(how));
    }
}

#[test]
fn objects_have_a_limit_and_other_surfaces_are_not_there() {
    let mut host = Fake::default();
    host.limits.object = Some(4);
    let args = |content: &str| json!({"key": "k", "contentBase64": content});
    assert_eq!(call(&host, "a", "put", &args("AAAAAA==")).0, 200);
    let (status, told) = call(&host, "a", "put", &args("AAAAAAA="));
    assert_eq!((status, &told["error"]), (413, &json!("blob_object_too_large")));
    assert_eq!(told["details"], json!({"capability": "blobStorage", "limit": 4}));
    // The suite reads a 404 as "not served here".
    let kv = json!({"tenantId": "a", "surface": "kv", "op": "get", "args": {"key": "k"}});
    let (status, told) = host.post(SURFACE, &kv);
    assert_eq!((status, &told["error"]), (404, &json!("host_capability_missing")));
    // Also under the path of the second version.
    let path = "/conformance/seams/sample/test/surface";
    let body = json!({"tenantId": "a", "surface": "blob", "op": "get", "args": {"key": "k"}});
    assert_eq!(host.post(path, &body).1["found"], true);
    // A host without object storage is not asked for objects.
    host.limits.object = None;
    assert_eq!(host.post(SURFACE, &body).0, 404);
    let document = json_of(&host.ask(OpenwopRequest::get("/.well-known/openwop")));
    assert_eq!(document["blobStorage"], json!({"supported": false}));
}

//! Only the page of the inspector itself, opened with its token, gets an answer.

use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::world::{TOKEN, World, bytes, enter, request};

/// Returns status and code of the answer to a request.
async fn code(
    world: &World,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> (u16, String) {
    let service = world.service();
    let response = service.respond(request(method, path, headers, "{}")).await;
    let status = response.status().as_u16();
    let body: Value = serde_json::from_slice(&bytes(response).await).unwrap_or_default();
    (status, body["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn without_the_cookie_nothing_is_shown() {
    let world = World::new(1);
    for path in ["/sessions", "/about", "/events", &format!("/sessions/{}", world.id)] {
        let (status, code) = code(&world, Method::GET, path, &[]).await;
        assert_eq!((status, code.as_str()), (403, "token"), "{path}");
    }
    let wrong =
        code(&world, Method::GET, "/sessions", &[("cookie", "photic_inspect_4142=x")]).await;
    assert_eq!(wrong, (403, "token".to_owned()));
    let (status, _) = world.ask(&world.service(), "/sessions").await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_wrong_token_buys_nothing() {
    let world = World::new(1);
    let service = world.service();
    for token in ["", "0123", &TOKEN.to_uppercase()] {
        let body = json!({"token": token}).to_string();
        let ask = request(Method::POST, "/enter", &[("x-photic-inspect", "1")], &body);
        let response = service.respond(ask).await;
        assert_eq!(response.status(), 403, "{token}");
        assert!(response.headers().get("set-cookie").is_none());
    }
}

#[tokio::test]
async fn other_pages_and_other_names_are_refused() {
    let world = World::new(1);
    let cookie = enter(&world.service()).await;
    for (name, value, expected) in [
        ("origin", "https://evil.example", "foreign_origin"),
        ("origin", "null", "foreign_origin"),
        ("sec-fetch-site", "cross-site", "foreign_origin"),
        ("sec-fetch-site", "same-site", "foreign_origin"),
    ] {
        let headers = [("cookie", cookie.as_str()), (name, value)];
        let refused = code(&world, Method::GET, "/sessions", &headers).await;
        assert_eq!(refused, (403, expected.to_owned()), "{name}: {value}");
    }
    // A name that points at this machine.
    let rebound = Request::builder()
        .uri("/inspect/api/v1/sessions")
        .header("host", "evil.example:4142")
        .header("cookie", &cookie)
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let response = world.service().respond(rebound).await;
    assert_eq!(response.status(), 403);
    // Even the page itself is not served to it.
    let page = Request::builder().uri("/inspect/").header("host", "evil.example");
    let page = page.body(Full::<bytes::Bytes>::default()).unwrap();
    assert_eq!(world.service().respond(page).await.status(), 403);
}

#[tokio::test]
async fn a_choice_needs_the_header_the_cookie_and_a_body() {
    let world = World::new(1);
    let path = format!("/sessions/{}/pictures/1/choice", world.id);
    let cookie = enter(&world.service()).await;
    let with_cookie = [("cookie", cookie.as_str())];
    let refused = code(&world, Method::POST, &path, &with_cookie).await;
    assert_eq!(refused, (403, "missing_header".to_owned()));
    let refused = code(&world, Method::POST, &path, &[("x-photic-inspect", "1")]).await;
    assert_eq!(refused, (403, "token".to_owned()));
    let service = world.service();
    let headers = [("cookie", cookie.as_str()), ("x-photic-inspect", "1")];
    for body in
        ["", "{}x", "{\"choice\":\"destroy\"}", "{\"choice\":{\"shrink\":{\"max_edge\":0}}}"]
    {
        let response = service.respond(request(Method::POST, &path, &headers, body)).await;
        assert_eq!(response.status(), 400, "{body}");
    }
    let put = service.respond(request(Method::PUT, "/sessions", &headers, "")).await;
    assert_eq!(put.status(), 405);
}

#[tokio::test]
async fn every_answer_forbids_everything_else() {
    let world = World::new(1);
    let service = world.service();
    for path in ["/inspect/", "/inspect/app.js", "/inspect/api/v1/sessions", "/inspect/nothing"] {
        let ask = Request::builder().uri(path).header("host", "localhost:4142");
        let response = service.respond(ask.body(Full::<bytes::Bytes>::default()).unwrap()).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn pictures_are_served_as_pictures_and_bodies_as_files() {
    let world = World::new(2);
    let service = world.service();
    let cookie = enter(&service).await;
    let ask = |path: String| {
        let headers = [("cookie", cookie.as_str())];
        service.respond(request(Method::GET, &path, &headers, ""))
    };
    let base = format!("/sessions/{}", world.id);
    for (path, media_type) in [
        (format!("{base}/pictures/1/thumb"), "image/webp"),
        (format!("{base}/pictures/1/original"), "image/png"),
        (format!("{base}/pictures/1/sent?turn=2"), "image/png"),
        (format!("{base}/pictures/1/seen?turn=2"), "image/png"),
    ] {
        let response = ask(path.clone()).await;
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], media_type, "{path}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    }
    let named = ask(format!("{base}/pictures/1/thumb?h=0011")).await;
    assert!(named.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    assert!(bytes(named).await.len() <= 4 << 10);
    let file = ask(format!("{base}/turns/1/body?side=client")).await;
    assert_eq!(file.headers()["content-type"], "application/octet-stream");
    let disposition = file.headers()["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment"), "{disposition}");
    assert_eq!(bytes(file).await, crate::world::body(1));
}

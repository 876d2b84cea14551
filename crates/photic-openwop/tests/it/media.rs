//! Uploaded media.

use photic_openwop::{Modality, OpenwopRequest};
use serde_json::json;

use crate::host::{Fake, KEY, MEDIA, OTHER, PNG, REFERENCE_MS, json_of};

fn post(host: &Fake, content_type: Option<&str>, body: &'static [u8]) -> (u16, serde_json::Value) {
    let answer = host.ask(OpenwopRequest {
        bearer: Some(KEY),
        content_type,
        ..OpenwopRequest::post(MEDIA, body)
    });
    (answer.status, json_of(&answer))
}

#[test]
fn an_upload_is_told_in_full_and_found_again_by_its_owner_only() {
    let host = Fake::default();
    let (status, told) = post(&host, Some("image/png; x=y"), PNG);
    let name = told["mediaRef"].as_str().unwrap().to_owned();
    let expected = json!({
        "mediaRef": name,
        "mimeType": "image/png",
        "bytes": PNG.len(),
        "expiresAtMs": host.now() + REFERENCE_MS,
    });
    assert_eq!((status, &told), (201, &expected));
    let path = format!("{MEDIA}/{name}");
    let get =
        |key: &str| host.ask(OpenwopRequest { bearer: Some(key), ..OpenwopRequest::get(&path) });
    let delete = |key: &str| {
        host.ask(OpenwopRequest {
            method: "DELETE",
            bearer: Some(key),
            ..OpenwopRequest::get(&path)
        })
    };
    assert_eq!((get(KEY).status, json_of(&get(KEY))), (200, expected));
    let random = format!("{MEDIA}/mr_0123");
    let never = host.ask(OpenwopRequest { bearer: Some(OTHER), ..OpenwopRequest::get(&random) });
    assert_eq!(never.status, 404);
    assert_eq!(get(OTHER), never);
    assert_eq!(delete(OTHER), never);
    assert_eq!(get(KEY).status, 200);
    assert_eq!((delete(KEY).status, delete(KEY)), (204, never.clone()));
    assert_eq!(get(KEY), never);
}

#[test]
fn what_no_call_could_hold_is_not_stored() {
    let mut host = Fake { modalities: vec![Modality::Image], ..Fake::default() };
    for (content_type, body, status, code) in [
        (None, PNG, 400, "validation_error"),
        (Some("png"), PNG, 400, "validation_error"),
        (Some("application/pdf"), b"%PDF-1.7".as_slice(), 400, "unsupported_modality"),
        (Some("video/mp4"), PNG, 400, "unsupported_modality"),
        (Some("image/png"), b"".as_slice(), 400, "validation_error"),
        (Some("image/png"), b"hello".as_slice(), 400, "invalid_image"),
    ] {
        let (got, told) = post(&host, content_type, body);
        assert_eq!((got, &told["error"]), (status, &json!(code)), "{content_type:?}");
    }
    host.limits.part = PNG.len();
    assert_eq!(post(&host, Some("image/png"), PNG).0, 201);
    host.limits.part = PNG.len() - 1;
    let (status, told) = post(&host, Some("image/png"), PNG);
    assert_eq!((status, &told["error"]), (413, &json!("content_too_long")));
}

//! Bodies with a content encoding are decoded, repaired and sent plain.

use std::io::Write as _;

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use photic::Wire;
use serde_json::Value;

use crate::caller::{exchange, post};
use crate::pairs::{path, turn};
use crate::scripted::{Act, Upstream};
use crate::{gateway, started};

/// Every encoding that is decoded.
pub(crate) const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// Encodes a body.
pub(crate) fn encoded(coding: &str, body: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "bare deflate" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 1, 18);
            encoder.write_all(body).unwrap();
            drop(encoder);
            out
        }
        "zstd" => {
            ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
        }
        "large br" => {
            // Windows beyond 16 MiB, of which RFC 7932 knows nothing.
            let large = BrotliEncoderParams { large_window: true, lgwin: 26, ..fastest() };
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::with_params(&mut out, 4096, &large);
            encoder.write_all(body).unwrap();
            drop(encoder);
            out
        }
        other => unreachable!("{other}"),
    }
}

fn fastest() -> BrotliEncoderParams {
    BrotliEncoderParams { quality: 1, ..BrotliEncoderParams::default() }
}

/// A zstd frame that holds no part of the body.
const SKIPPED: &[u8] = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";

#[tokio::test]
async fn an_encoded_body_is_repaired_like_a_plain_one() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let (path, body) = (path(Wire::OpenAiChat, false), turn(Wire::OpenAiChat, false));
    assert_eq!(exchange(gateway, &post(&path, "", &body)).await.status, 200);
    let plain = upstream.last().body;
    let twice = encoded("zstd", &encoded("gzip", &body));
    let mut all: Vec<(&str, Vec<u8>)> =
        CODINGS.iter().map(|coding| (*coding, encoded(coding, &body))).collect();
    all.push(("x-gzip", encoded("gzip", &body)));
    all.push(("deflate", encoded("bare deflate", &body)));
    all.push(("gzip, zstd", twice));
    let frame = encoded("zstd", &body);
    all.push(("zstd", [SKIPPED, &frame, SKIPPED, SKIPPED].concat()));
    all.push(("identity", body));
    for (coding, bytes) in all {
        let headers = format!("content-encoding: {coding}\r\n");
        let reply = exchange(gateway, &post(&path, &headers, &bytes)).await;
        assert_eq!((reply.status, reply.header("x-photic-fixed")), (200, Some("hoisted=1")));
        assert_eq!(reply.header("x-photic-passed"), None);
        let seen = upstream.last();
        assert_eq!(seen.body, plain, "{coding}");
        assert!(!seen.head.contains("content-encoding"), "{}", seen.head);
    }
}

#[tokio::test]
async fn an_unknown_encoding_passes_and_says_so() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    for coding in ["snappy", "gzip, gzip, gzip, gzip, gzip"] {
        let headers = format!("content-encoding: {coding}\r\n");
        let reply = exchange(gateway, &post("/v1/messages", &headers, b"\x00\x01")).await;
        assert_eq!(
            (reply.status, reply.header("x-photic-passed")),
            (200, Some("unknown_encoding"))
        );
        let seen = upstream.last();
        assert_eq!(seen.body, b"\x00\x01");
        assert!(seen.head.contains(&format!("content-encoding: {coding}\r\n")), "{}", seen.head);
    }
}

#[tokio::test]
async fn a_corrupt_body_is_refused() {
    let (address, upstream) = Upstream::answering("{}").await;
    let gateway = gateway(address, "").await;
    let body = turn(Wire::Anthropic, false);
    for coding in CODINGS {
        let whole = encoded(coding, &body);
        let cut = &whole[..whole.len() / 2];
        for bytes in [b"no such thing at all, not even remotely".as_slice(), cut] {
            let headers = format!("content-encoding: {coding}\r\n");
            let reply = exchange(gateway, &post("/v1/messages", &headers, bytes)).await;
            let code = reply.header("x-photic-error");
            assert_eq!((reply.status, code), (400, Some("bad_encoding")), "{coding}");
        }
    }
    let large = encoded("large br", &body);
    assert_eq!(large[0], 0x11);
    for (coding, bytes) in [
        ("br", &*large),
        ("gzip, br", &*encoded("large br", &encoded("gzip", &body))),
        ("zstd", &SKIPPED[..SKIPPED.len() - 1]),
        ("zstd", &SKIPPED[..6]),
    ] {
        let headers = format!("content-encoding: {coding}\r\n");
        let reply = exchange(gateway, &post("/v1/messages", &headers, bytes)).await;
        let code = reply.header("x-photic-error");
        assert_eq!((reply.status, code), (400, Some("bad_encoding")), "{coding}");
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_bomb_is_refused() {
    let (address, upstream) = Upstream::answering("{}").await;
    let small =
        started(&format!("[limits]\nbody_mib = 8\n[[upstream]]\nurl = 'http://{address}'")).await;
    let large = gateway(address, "").await;
    let zeros = vec![b' '; 24 << 20];
    for coding in CODINGS {
        let bytes = encoded(coding, &zeros);
        let headers = format!("content-encoding: {coding}\r\n");
        let reply = exchange(small, &post("/v1/messages", &headers, &bytes)).await;
        let code = reply.header("x-photic-error");
        assert_eq!((reply.status, code), (413, Some("request_too_large")), "{coding}");
        // Within the size, but never a conversation by its ratio.
        if bytes.len() < zeros.len() / 600 {
            let reply = exchange(large, &post("/v1/messages", &headers, &bytes)).await;
            assert_eq!(reply.status, 413, "{coding}");
        }
    }
    assert!(upstream.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_reply_that_comes_compressed_unasked_is_translated_all_the_same() {
    let answer = br#"{"id":"c","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"red"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    for coding in ["gzip", "deflate", "br"] {
        let whole = encoded_reply(coding, &encoded(coding, answer));
        let (address, upstream) = Upstream::start(move |_| vec![Act::Send(whole.clone())]).await;
        let settings =
            format!("[[upstream]]\nurl = 'http://{address}'\nwire = 'openai-chat'\nmodels = ['*']");
        let gateway = started(&settings).await;
        let headers = "x-api-key: k\r\naccept-encoding: gzip\r\n";
        let body = turn(Wire::Anthropic, false);
        let reply = exchange(gateway, &post("/v1/messages", headers, &body)).await;
        assert_eq!(reply.status, 200, "{coding}");
        assert_eq!(reply.header("content-encoding"), None);
        let json: Value = reply.json();
        assert_eq!(json["content"][0]["text"], "red", "{coding}");
        assert!(upstream.last().head.contains("accept-encoding: identity\r\n"));
    }
}

#[tokio::test]
async fn a_reply_with_a_large_window_is_not_decoded() {
    let whole = encoded_reply("br", &encoded("large br", b"{\"choices\":[]}"));
    let (address, _) = Upstream::start(move |_| vec![Act::Send(whole.clone())]).await;
    let settings =
        format!("[[upstream]]\nurl = 'http://{address}'\nwire = 'openai-chat'\nmodels = ['*']");
    let gateway = started(&settings).await;
    let body = turn(Wire::Anthropic, false);
    let reply = exchange(gateway, &post("/v1/messages", "x-api-key: k\r\n", &body)).await;
    assert_eq!(reply.status, 502, "{reply:?}");
}

/// Returns a reply with an encoded body.
fn encoded_reply(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {coding}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

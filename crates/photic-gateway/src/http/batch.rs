//! Batches: bodies that hold many turns, to be answered later.
//!
//! Messages batches are one JSON object. Batches of OpenAI are files of lines, uploaded as one part
//! of a form.

use std::ops::Range;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A turn in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatchTurn {
    /// The body of the turn within the body of the batch.
    pub(crate) body: Range<usize>,
    /// The path of the turn, if the batch names it.
    pub(crate) path: Option<String>,
}

#[derive(Deserialize)]
struct MessagesBatch<'b> {
    #[serde(borrow)]
    requests: Vec<MessagesTurn<'b>>,
}

#[derive(Deserialize)]
struct MessagesTurn<'b> {
    #[serde(borrow)]
    params: &'b RawValue,
}

#[derive(Deserialize)]
struct Line<'b> {
    url: String,
    #[serde(borrow)]
    body: &'b RawValue,
}

/// Returns the turns of a Messages batch, or `None` if the body is no such batch.
pub(crate) fn messages_batch(body: &[u8]) -> Option<Vec<BatchTurn>> {
    let batch: MessagesBatch<'_> = serde_json::from_slice(body).ok()?;
    let turns = batch
        .requests
        .iter()
        .map(|turn| BatchTurn { body: range_in(body, turn.params.get().as_bytes()), path: None });
    Some(turns.collect())
}

/// Returns the turns of a file of lines that is uploaded as a batch, or `None` if the body is
/// another upload.
pub(crate) fn uploaded_batch(headers: &HeaderMap, body: &[u8]) -> Option<Vec<BatchTurn>> {
    let parts = parts(body, &boundary(headers)?);
    let named = |name: &str| parts.iter().find(|part| part.name.as_deref() == Some(name));
    let purpose = named("purpose")?;
    if body[purpose.body.clone()].trim_ascii() != b"batch" {
        return None;
    }
    let file = named("file")?.body.clone();
    let mut turns = Vec::new();
    for line in body[file].split(|byte| *byte == b'\n') {
        // A line that is no request is left to the provider to complain about.
        if let Ok(line) = serde_json::from_slice::<Line<'_>>(line) {
            let range = range_in(body, line.body.get().as_bytes());
            turns.push(BatchTurn { body: range, path: Some(line.url) });
        }
    }
    Some(turns)
}

/// Returns `true` if a request uploads a file in a form.
pub(crate) fn is_upload(path: &str, headers: &HeaderMap) -> bool {
    path.trim_end_matches('/').ends_with("/files") && boundary(headers).is_some()
}

/// Returns `true` if the body of a request is that of files, such as a form or a part of an upload.
pub(crate) fn carries_files(path: &str, headers: &HeaderMap) -> bool {
    path.starts_with("/upload/") || boundary(headers).is_some()
}

/// Returns the position of a slice of a body in that body.
fn range_in(body: &[u8], slice: &[u8]) -> Range<usize> {
    let start = slice.as_ptr().addr() - body.as_ptr().addr();
    start..start + slice.len()
}

/// A part of a form (RFC 7578).
#[derive(Debug)]
struct Part {
    name: Option<String>,
    body: Range<usize>,
}

/// Returns the boundary between the parts of a form.
fn boundary(headers: &HeaderMap) -> Option<Vec<u8>> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let rest = after(value, "multipart/form-data")?;
    let parameter = rest.split(';').map(str::trim).find_map(|one| after(one, "boundary="))?;
    let boundary = parameter.trim_matches('"');
    (!boundary.is_empty()).then(|| [b"--", boundary.as_bytes()].concat())
}

/// Returns the rest of a text that begins with these letters, in upper or lower case.
fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let (own, rest) = text.split_at_checked(start.len())?;
    own.eq_ignore_ascii_case(start).then_some(rest)
}

fn parts(body: &[u8], boundary: &[u8]) -> Vec<Part> {
    let starts: Vec<usize> = memmem::find_iter(body, boundary).collect();
    let pairs = starts.windows(2).filter_map(|pair| {
        let part = pair[0] + boundary.len()..pair[1];
        let head = memmem::find(&body[part.clone()], b"\r\n\r\n")?;
        let name = name(&body[part.start..part.start + head]);
        let start = part.start + head + 4;
        // The line break before a boundary belongs to the boundary.
        let end = if body[..part.end].ends_with(b"\r\n") { part.end - 2 } else { part.end };
        Some(Part { name, body: start..end.max(start) })
    });
    pairs.collect()
}

/// Returns the name of a part, from its headers.
fn name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let line = head.lines().find(|line| {
        line.get(..20).is_some_and(|start| start.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let parameter = line.split(';').map(str::trim).find_map(|one| one.strip_prefix("name="))?;
    Some(parameter.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn turns_of_a_messages_batch_are_found() {
        let body =
            br#"{"requests":[{"custom_id":"a","params":{"model":"m"}},{"params": {"x":1} }]}"#;
        let turns = messages_batch(body).unwrap();
        let texts: Vec<&[u8]> = turns.iter().map(|turn| &body[turn.body.clone()]).collect();
        assert_eq!(texts, [br#"{"model":"m"}"#.as_slice(), br#"{"x":1}"#]);
        assert_eq!(messages_batch(b"{\"messages\":[]}"), None);
    }

    #[test]
    fn lines_of_an_uploaded_batch_are_found() {
        let lines = "{\"custom_id\":\"a\",\"url\":\"/v1/responses\",\"body\":{\"input\":1}}\nnot json\n\
                     {\"url\":\"/v1/chat/completions\",\"body\":{\"messages\":[]}}";
        let form = |purpose: &str| {
            format!(
                "--XX\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n--XX\r\n\
                 content-disposition: form-data; name=\"file\"; filename=\"b.jsonl\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n{lines}\r\n--XX--\r\n"
            )
        };
        let mut headers = HeaderMap::new();
        let body = form("batch");
        for kind in
            ["multipart/form-data; boundary=\"XX\"", "Multipart/Form-Data; charset=x; Boundary=XX"]
        {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            assert_eq!(uploaded_batch(&headers, body.as_bytes()).map(|turns| turns.len()), Some(2));
        }
        let turns = uploaded_batch(&headers, body.as_bytes()).unwrap();
        let found: Vec<(&str, &str)> = turns
            .iter()
            .map(|turn| (&body[turn.body.clone()], turn.path.as_deref().unwrap()))
            .collect();
        let expected =
            [("{\"input\":1}", "/v1/responses"), ("{\"messages\":[]}", "/v1/chat/completions")];
        assert_eq!(found, expected);
        assert_eq!(uploaded_batch(&headers, form("user_data").as_bytes()), None);
        assert!(is_upload("/v1/files", &headers) && !is_upload("/v1/chat/completions", &headers));
        assert_eq!(uploaded_batch(&HeaderMap::new(), body.as_bytes()), None);
    }
}

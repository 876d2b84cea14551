//! A line for a request in the combined log format of Apache and nginx.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use http::Request;
use http::header::{HeaderMap, HeaderName, REFERER, USER_AGENT};

use super::time::date_of;

/// Maximum length of a text that the client chose.
const MAX_TEXT: usize = 256;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The words of the client in the head of a request. Kept only if the log has this format.
#[derive(Debug)]
pub(crate) struct Access {
    peer: IpAddr,
    /// The method, the path without its query, and the version.
    line: String,
    referer: String,
    agent: String,
}

impl Access {
    /// Copies what the line of a request needs. A query may contain a key, and is left out.
    pub(super) fn of<B>(request: &Request<B>, peer: IpAddr) -> Self {
        let (method, path) = (request.method(), request.uri().path());
        let line = escaped(&format!("{method} {path} {:?}", request.version()));
        let text = |name| header(request.headers(), &name);
        Self { peer, line, referer: text(REFERER), agent: text(USER_AGENT) }
    }

    /// Renders the line of a request that has ended at a time since 1970, with the name of its
    /// caller, its status, and the bytes of its reply.
    pub(super) fn line(
        &self,
        caller: Option<&str>,
        (status, bytes): (u16, u64),
        since: Duration,
    ) -> String {
        let Self { peer, line, referer, agent } = self;
        let caller = caller.unwrap_or("-");
        let (year, month, day) = date_of(since);
        let seconds = since.as_secs();
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let month = MONTHS.get(month as usize - 1).copied().unwrap_or("-");
        let at = format!("{day:02}/{month}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000");
        format!("{peer} - {caller} [{at}] \"{line}\" {status} {bytes} \"{referer}\" \"{agent}\"")
    }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    value.map_or_else(|| "-".to_owned(), |value| escaped(&value))
}

/// Returns a text without the characters that would end its quotes or the line, as Apache does.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars().take(MAX_TEXT) {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            ' '..='~' => out.push(letter),
            other => {
                let mut bytes = [0; 4];
                for byte in other.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_parsers_of_it_expect() {
        let request = Request::post("/v1/messages?key=secret")
            .header("user-agent", http::HeaderValue::from_bytes(b"a \"b\"\\\xc3\xa9").unwrap())
            .body(())
            .unwrap();
        let access = Access::of(&request, IpAddr::from([10, 0, 0, 1]));
        assert_eq!(
            access.line(None, (200, 7), Duration::from_secs(951_782_461)),
            "10.0.0.1 - - [29/Feb/2000:00:01:01 +0000] \"POST /v1/messages HTTP/1.1\" 200 7 \"-\" \
             \"a \\\"b\\\"\\\\\\xc3\\xa9\""
        );
    }
}

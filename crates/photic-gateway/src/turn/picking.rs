//! The upstream that a request of a `[[model]]` is sent to, and the name of its model there.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use photic::Transcript;
use photic::json::Str;
use photic::media::Source;

use crate::upstream::{ModelRoutes, Picked, Upstreams};

/// The upstream that a request was picked for, once its model is known.
#[derive(Debug, Default)]
pub(super) struct Picking {
    picked: OnceLock<Option<Picked>>,
    /// The place of the model's name in the body.
    name: OnceLock<Range<usize>>,
    /// Set if the request was sent before.
    is_again: bool,
}

impl Picking {
    /// Creates the picking of a request that no `[[model]]` applies to.
    pub(super) fn none() -> Self {
        Self { picked: OnceLock::from(None), ..Self::default() }
    }

    /// Creates the picking of a request that is sent again.
    pub(super) fn again(&self, picked: Picked) -> Self {
        Self { picked: OnceLock::from(Some(picked)), name: self.name.clone(), is_again: true }
    }

    /// Returns the upstream, if a `[[model]]` applies. The first call picks it.
    pub(super) fn of(
        &self,
        upstreams: &Upstreams,
        transcript: &Transcript<'_>,
        body: &Bytes,
    ) -> Option<&Picked> {
        let routes = upstreams.routes()?;
        self.picked.get_or_init(|| pick(routes, transcript)).as_ref().inspect(|_| {
            if let Some(Str::Escaped(name)) = transcript.settings.model
                && let Some(place) = place(name, body)
            {
                let _ = self.name.set(place);
            }
        })
    }

    /// Returns the upstream, if one was picked.
    pub(super) fn picked(&self) -> Option<&Picked> {
        self.picked.get()?.as_ref()
    }

    /// Returns `true` if the request was sent before.
    pub(super) const fn is_again(&self) -> bool {
        self.is_again
    }

    /// Returns the place of the model's name in the body, without its quotes.
    pub(super) fn name(&self) -> Option<&Range<usize>> {
        self.name.get()
    }
}

fn pick(routes: &ModelRoutes, transcript: &Transcript<'_>) -> Option<Picked> {
    let model = transcript.settings.model.as_ref().map(Str::decode);
    let route = routes.find(model.as_deref())?;
    routes.budget().add_request();
    let is_bound = route.has_several() && is_bound(transcript);
    routes.pick(route, &[], |_| true, is_bound)
}

/// Returns `true` if a request refers to something that its provider keeps, such as a file or an
/// earlier response. No other upstream has it.
fn is_bound(transcript: &Transcript<'_>) -> bool {
    transcript.media.iter().any(|media| matches!(media.source, Source::File(_)))
        || photic::notes(transcript).iter().any(|note| note.is_half)
}

/// Returns the place of a part of a body.
fn place(part: &[u8], body: &Bytes) -> Option<Range<usize>> {
    let from = part.as_ptr().addr().checked_sub(body.as_ptr().addr())?;
    let place = from..from + part.len();
    (place.end <= body.len()).then_some(place)
}

/// Replaces the name of the model in the pieces of a body that is sent in its own wire.
pub(super) fn rename_model(pieces: &mut Vec<Bytes>, body: &Bytes, at: &Range<usize>, name: &str) {
    let wanted = body.as_ptr().addr() + at.start;
    let index = pieces.iter().position(|piece| {
        let start = piece.as_ptr().addr();
        start <= wanted && wanted + at.len() <= start + piece.len()
    });
    let Some(index) = index else { return };
    let piece = pieces.remove(index);
    let from = wanted - piece.as_ptr().addr();
    let quoted = Bytes::from(serde_json::Value::from(name).to_string());
    let inside = quoted.slice(1..quoted.len() - 1);
    let parts = [piece.slice(..from), inside, piece.slice(from + at.len()..)];
    pieces.splice(index..index, parts.into_iter().filter(|part| !part.is_empty()));
}

/// Replaces the name of a model in a path of a wire whose paths name it.
pub(super) fn rename_in_path(path: &str, old: &str, new: &str) -> String {
    let (old, new) = (escaped(old), escaped(new));
    let renamed = path.split('/').map(|segment| {
        // A verb may follow the name.
        match segment.split_once(':') {
            _ if segment.eq_ignore_ascii_case(&old) => new.clone(),
            Some((name, verb)) if name.eq_ignore_ascii_case(&old) => format!("{new}:{verb}"),
            _ => segment.to_owned(),
        }
    });
    renamed.collect::<Vec<_>>().join("/")
}

/// Escapes a name for a segment of a path.
fn escaped(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    name.bytes().fold(String::with_capacity(name.len()), |mut out, byte| {
        if is_plain(byte) {
            out.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_replaced_where_it_stands() {
        let body = Bytes::from_static(b"{\"messages\":[],\"model\":\"fast\",\"n\":1}");
        let at = 24..28;
        assert_eq!(&body[at.clone()], b"fast");
        let added = Bytes::from_static(b"added");
        for cut in [0, 10, 23, 30] {
            let mut pieces = vec![body.slice(..cut), added.clone(), body.slice(cut..)];
            rename_model(&mut pieces, &body, &at, "vendor/\"big\"");
            let whole = String::from_utf8(pieces.concat()).unwrap().replace("added", "");
            let expected = r#"{"messages":[],"model":"vendor/\"big\"","n":1}"#;
            assert_eq!(whole, expected, "{cut}");
        }
        // A piece that is no part of the body is left alone.
        let mut other = vec![Bytes::from_static(b"{\"model\":\"fast\"}")];
        rename_model(&mut other, &body, &at, "x");
        assert_eq!(other.concat(), b"{\"model\":\"fast\"}");
    }

    #[test]
    fn a_name_is_replaced_in_a_path() {
        for (path, old, new, expected) in [
            (
                "/v1beta/models/fast:generateContent",
                "fast",
                "gemini-3",
                "/v1beta/models/gemini-3:generateContent",
            ),
            ("/model/fast/converse", "fast", "us.a-v1:0", "/model/us.a-v1%3A0/converse"),
            ("/model/a%2Fb/converse-stream", "a/b", "c", "/model/c/converse-stream"),
            (
                "/openai/deployments/fast/chat/completions",
                "fast",
                "gpt",
                "/openai/deployments/gpt/chat/completions",
            ),
            ("/v1/messages", "fast", "x", "/v1/messages"),
        ] {
            assert_eq!(rename_in_path(path, old, new), expected);
        }
    }
}

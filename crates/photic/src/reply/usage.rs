//! Finds the token counts of a reply without reading all of it.

use super::{Usage, lift_reply};
use crate::wire::Wire;

/// The last member of a reply before its counts, on a wire that spreads them over the reply.
const DONE: &[u8] = b"\"done\"";

/// Finds the token counts of a reply, whole or streamed, in its first and last bytes.
///
/// ```
/// use photic::{Wire, reply::find_usage};
///
/// let tail = br#"data: {"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7}}"#;
/// assert_eq!(find_usage(Wire::OpenAiChat, b"", tail).unwrap().input, 120);
/// ```
pub fn find_usage(wire: Wire, head: &[u8], tail: &[u8]) -> Option<Usage> {
    let Some(name) = wire.http().usage_member else { return spread(wire, tail) };
    let name = ["\"", name, "\""].concat().into_bytes();
    let mut found: Option<Usage> = None;
    for part in [head, tail] {
        for (at, _) in part.windows(name.len()).enumerate().filter(|(_, here)| *here == name) {
            let Some(object) = object(&part[at + name.len()..]) else { continue };
            let reply = [b"{", name.as_slice(), b":", object, b"}"].concat();
            let Some(usage) = lift_reply(wire, &reply).usage else { continue };
            // Messages reports the input at the beginning and the output at the end.
            let former = found.unwrap_or_default();
            found = Some(if former.input > usage.input {
                Usage { output: former.output.max(usage.output), ..former }
            } else {
                usage
            });
        }
    }
    found
}

/// Reads the counts of a reply that has them beside its other members, at its end.
fn spread(wire: Wire, tail: &[u8]) -> Option<Usage> {
    let last = tail.trim_ascii_end();
    let from = last.windows(DONE.len()).rposition(|here| here == DONE)?;
    let reply = [b"{", &last[from..]].concat();
    lift_reply(wire, &reply).usage
}

/// Returns the object that follows a name. Token counts hold no strings, so braces can be counted.
fn object(rest: &[u8]) -> Option<&[u8]> {
    let start =
        rest.iter().position(|byte| !matches!(byte, b' ' | b':' | b'\n' | b'\r' | b'\t'))?;
    if rest[start] != b'{' {
        return None;
    }
    let mut depth = 0_usize;
    for (at, byte) in rest.iter().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[start..=at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_found_at_either_end_of_a_reply() {
        let chat = br#"data: {"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":100}}}"#;
        let found = find_usage(Wire::OpenAiChat, b"data: {\"usage\":null}", chat).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (120, 7, 100));
        let responses = br#"put":[]},"usage": {"input_tokens":50,"output_tokens":2},"user":null}}"#;
        assert_eq!(find_usage(Wire::OpenAiResponses, b"", responses).unwrap().input, 50);
        let start = br#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}}"#;
        let end = br#"{"type":"message_delta","delta":{},"usage":{"output_tokens":33}}"#;
        let found = find_usage(Wire::Anthropic, start, end).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (100, 33, 90));
        let gemini = br#"data: {"candidates":[],"usageMetadata": {"promptTokenCount":70,"candidatesTokenCount":5,"promptTokensDetails":[{"modality":"IMAGE","tokenCount":60}]}}"#;
        assert_eq!(find_usage(Wire::Gemini, b"", gemini).unwrap().input, 70);
        let converse =
            b"\0\0:event-type{\"metrics\":{},\"usage\":{\"inputTokens\":9,\"outputTokens\":3}}\x01";
        assert_eq!(find_usage(Wire::BedrockConverse, b"", converse).unwrap().input, 9);
        let ollama =
            b"e\"}}\n{\"model\":\"m\",\"done\":true,\"prompt_eval_count\":31,\"eval_count\":4}\n";
        let found = find_usage(Wire::Ollama, b"", ollama).unwrap();
        assert_eq!((found.input, found.output), (31, 4));
        assert_eq!(find_usage(Wire::Ollama, b"", b"{\"done\":fal"), None);
        for nothing in [b"".as_slice(), b"\"usage\"", b"\"usage\":{\"prompt_tokens\":1", b"usage"] {
            assert_eq!(find_usage(Wire::OpenAiChat, nothing, nothing), None);
        }
    }
}

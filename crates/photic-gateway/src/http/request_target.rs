//! Checks that a request path has one meaning for the gateway and for every server behind it.

use http::{Method, Uri};

use super::refusal::Refusal;

/// Checks the method and the path of a request.
///
/// Percent-encoding is allowed, because names of models contain `%2F` and `%3A`.
///
/// # Errors
///
/// Fails if the method is CONNECT or TRACE, or if the path decodes to a `.` or `..` segment, a
/// backslash, or a control character.
pub(crate) fn check_target(method: &Method, uri: &Uri) -> Result<(), Refusal> {
    if matches!(*method, Method::CONNECT | Method::TRACE) {
        return Err(Refusal::Method);
    }
    let path = uri.path();
    if !path.starts_with('/') || path.contains("//") || path.contains('\\') {
        return Err(Refusal::AmbiguousPath);
    }
    // Most paths need no decoding.
    if !path.contains(['%', '.']) {
        return Ok(());
    }
    let plain = decoded(path);
    let is_step = |step: &[u8]| matches!(step, b"." | b"..");
    let is_odd = |byte: &u8| *byte == b'\\' || byte.is_ascii_control();
    if plain.split(|byte| *byte == b'/').any(is_step) || plain.iter().any(is_odd) {
        return Err(Refusal::AmbiguousPath);
    }
    // It must not become one either if a server behind the gateway decodes it once more.
    if plain.windows(3).any(|three| {
        matches!(three, [b'%', b'2', b'e' | b'E' | b'f' | b'F'] | [b'%', b'5', b'c' | b'C'])
    }) {
        return Err(Refusal::AmbiguousPath);
    }
    Ok(())
}

fn decoded(path: &str) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|one| one.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_pass_and_steps_do_not() {
        let of = |path: &str| check_target(&Method::POST, &path.parse().unwrap());
        for path in [
            "/v1/chat/completions",
            "/v1/messages?beta=true",
            "/v1beta/models/gemini-2.5-pro:generateContent?alt=sse",
            "/model/us.a.b-v1%3A0/converse",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a-v1%3A0/converse",
            "/v1/models/org%2Fname.gguf",
            "/v1/files/a..b",
            "/.well-known/x",
            "/",
        ] {
            assert_eq!(of(path), Ok(()), "{path}");
        }
        for path in [
            "//v1/messages",
            "/v1//messages",
            "/v1/./messages",
            "/v1/../admin",
            "/v1/..",
            "/v1/%2e%2e/admin",
            "/v1/.%2E/admin",
            "/v1/..%2fadmin",
            "/v1/%252e%252e/admin",
            "/v1/%5cadmin",
            "/v1/a%00b",
            "/v1/a%0d%0ab",
        ] {
            assert_eq!(of(path), Err(Refusal::AmbiguousPath), "{path}");
        }
        for method in [Method::CONNECT, Method::TRACE] {
            assert_eq!(check_target(&method, &"/".parse().unwrap()), Err(Refusal::Method));
        }
    }
}

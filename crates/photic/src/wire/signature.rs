//! Signatures of AWS, which may cover the body of a request.

/// The payload hash of a request whose body is not part of its signature.
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// Headers that say something about the bytes of a body. Where one is signed, so is the body.
const ABOUT_BODY: [&str; 5] =
    ["content-digest", "content-encoding", "content-length", "content-md5", "digest"];

/// Returns `true` if a changed body would break the signature of AWS that a request carries.
///
/// `authorization` and `payload_hash` are its headers `authorization` and `x-amz-content-sha256`.
///
/// ```
/// use photic::wire::is_body_signed;
///
/// let signed = "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host;x-amz-date, Signature=y";
/// assert!(is_body_signed(signed, None));
/// assert!(!is_body_signed(signed, Some("UNSIGNED-PAYLOAD")));
/// assert!(!is_body_signed("Bearer x", None));
/// ```
pub fn is_body_signed(authorization: &str, payload_hash: Option<&str>) -> bool {
    if !authorization.starts_with("AWS4-") {
        return false;
    }
    let signed = authorization.split_once("SignedHeaders=").map_or("", |(_, rest)| rest);
    let mut signed = signed.split([',', ' ']).next().unwrap_or_default().split(';');
    payload_hash != Some(UNSIGNED) || signed.any(|name| ABOUT_BODY.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_covers_the_body_unless_it_says_otherwise() {
        let with = |names: &str| {
            format!("AWS4-HMAC-SHA256 Credential=x, SignedHeaders={names}, Signature=y")
        };
        let unsigned = Some("UNSIGNED-PAYLOAD");
        assert!(!is_body_signed(&with("host;x-amz-date"), unsigned));
        assert!(!is_body_signed("AWS4-HMAC-SHA256 Credential=x", unsigned));
        assert!(is_body_signed(&with("host;x-amz-date"), Some("e3b0c44298fc1c149afbf4c8996fb924")));
        assert!(is_body_signed(&with("host"), Some("STREAMING-UNSIGNED-PAYLOAD-TRAILER")));
        for name in ABOUT_BODY {
            assert!(is_body_signed(&with(&format!("accept;{name};host")), unsigned), "{name}");
        }
        assert!(!is_body_signed("", None) && !is_body_signed("Bearer AWS4-", None));
    }
}

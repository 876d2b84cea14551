//! Matches host names against patterns.

/// Returns whether a host matches one of the patterns. `*` matches any characters, dots included.
pub(super) fn matches(patterns: &[String], host: &str) -> bool {
    patterns.iter().any(|pattern| like(&pattern.to_ascii_lowercase(), host))
}

/// Matches without backtracking over earlier stars, so the time is bounded by the product of the
/// lengths.
fn like(pattern: &str, host: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| host.strip_prefix(first)) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, host, expected) in [
            ("example.com", "example.com", true),
            ("Example.COM", "example.com", true),
            ("example.com", "a.example.com", false),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "example.com.evil.org", false),
            ("*.example.com", "evilexample.com", false),
            ("cdn*.a.*", "cdn7.a.org", true),
            ("cdn*.a.*", "cdn7.b.org", false),
            ("*", "anything", true),
            ("a*a", "a", false),
            ("", "anything", false),
        ] {
            assert_eq!(matches(&[pattern.to_owned()], host), expected, "{pattern} {host}");
        }
    }
}

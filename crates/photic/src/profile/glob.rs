//! Globs over model names and hosts: `*` matches any run of characters, nothing else is special.
//!
//! Owns matching and specificity. Must ignore ASCII case, and must know no provider by name.

/// Returns the specificity of the best matching glob, or `None` if none matches. A glob with more
/// literal characters is more specific; of equals, the one without a star.
pub(super) fn best(globs: &[String], names: &[&str]) -> Option<usize> {
    globs
        .iter()
        .filter(|glob| names.iter().any(|name| matches(glob, name)))
        .map(|glob| {
            let literal = glob.bytes().filter(|&byte| byte != b'*').count();
            literal * 2 + usize::from(literal == glob.len())
        })
        .max()
}

/// Returns the names of a model: the whole, what follows the last `/`, and what follows a dot
/// between two letters. Hosted ids separate their namespaces with such dots
/// (`region.vendor.model-1.2`).
pub(super) fn model_names(model: &str) -> Vec<&str> {
    let model = model.trim();
    let tail = model.rsplit('/').next().unwrap_or(model);
    let mut names = vec![model, tail];
    let bytes = tail.as_bytes();
    for (at, window) in bytes.windows(3).enumerate() {
        if window[1] == b'.' && window[0].is_ascii_alphabetic() && window[2].is_ascii_alphabetic() {
            names.push(&tail[at + 2..]);
        }
    }
    names
}

/// Returns the names of a host: with and without its port. Ignores a scheme or path.
pub(super) fn host_names(host: &str) -> Vec<&str> {
    let host = host.trim();
    let host = host.split_once("://").map_or(host, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or(host);
    let bare = match host.rsplit_once(':') {
        // An IPv6 address without a port is full of colons and keeps them.
        Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare.ends_with(':') => {
            bare
        }
        _ => host,
    };
    vec![host, bare]
}

/// Matches greedily with one point of return: linear in practice, never recursive.
fn matches(glob: &str, name: &str) -> bool {
    let (glob, name) = (glob.as_bytes(), name.as_bytes());
    let (mut g, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if g < glob.len() && glob[g] == b'*' {
            retry = Some((g + 1, n));
            g += 1;
        } else if g < glob.len() && glob[g].eq_ignore_ascii_case(&name[n]) {
            g += 1;
            n += 1;
        } else if let Some((after_star, from)) = retry {
            retry = Some((after_star, from + 1));
            g = after_star;
            n = from + 1;
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{best, host_names, matches, model_names};

    #[test]
    fn globs() {
        for (glob, name, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("eye-4o*", "EYE-4o-mini", true),
            ("eye-4o", "eye-4o-mini", false),
            ("*-vl*", "eye2.5-vl-7b", true),
            ("a*b*c", "axxbyybzzc", true),
            ("a*b*c", "axxbyybzz", false),
            ("", "x", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(glob, name), expected, "{glob} on {name}");
        }
    }

    #[test]
    fn the_most_literal_glob_counts() {
        let globs = ["*".to_owned(), "ab*".to_owned(), "a*".to_owned()];
        assert!(best(&globs, &["abc"]) > best(&globs[2..], &["abc"]));
        assert!(best(&["abc".to_owned()], &["abc"]) > best(&["abc*".to_owned()], &["abc"]));
        assert!(best(&["abc".to_owned()], &["abc"]) < best(&["abcd*".to_owned()], &["abcd"]));
        assert_eq!(best(&globs[1..], &["x"]), None);
    }

    #[test]
    fn names() {
        assert_eq!(model_names("a/b/c-1.5"), ["a/b/c-1.5", "c-1.5"]);
        assert_eq!(model_names("us.vendor.m-4.5-v1:0")[2..], ["vendor.m-4.5-v1:0", "m-4.5-v1:0"]);
        assert_eq!(host_names("https://h.example:8080/v1"), ["h.example:8080", "h.example"]);
        assert_eq!(host_names("[::1]:11434"), ["[::1]:11434", "[::1]"]);
        assert_eq!(host_names("::1"), ["::1", "::1"]);
    }
}

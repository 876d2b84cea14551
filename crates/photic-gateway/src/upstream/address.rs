//! Makes the URL of a request to an upstream, from its own URL and the path of the client.

use http::Uri;

use super::provider::Upstream;
use crate::http::{Route, is_below, is_complete, without_version};

impl Upstream {
    /// Returns the URL of a request that is not read: the one that it would have if it were.
    pub(crate) fn unread(&self, route: Route, path: &str, query: Option<&str>) -> Option<Uri> {
        match route {
            Route::Turn(endpoint) | Route::CountTokens(endpoint) | Route::Compact(endpoint) => {
                if endpoint.envelope.is_some() {
                    self.prefixed(path, query)
                } else {
                    self.route(path, query)
                }
            }
            _ => self.other(path, query),
        }
    }

    /// Returns the URL for a path of a conversation. It contains the version of the upstream, if it
    /// has one, even if the client's path does not. Behind a named prefix, the path is complete: the
    /// client would have appended it to the same base URL.
    pub(crate) fn route(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        if self.prefix.is_some() {
            return self.join(path, query);
        }
        let path = without_version(path);
        let usual = self.usual.iter().find(|(usual, _)| *usual == path && query.is_none());
        match usual {
            Some((_, uri)) => Some(uri.clone()),
            None if is_complete(path) => {
                // The base URL may end with the version already.
                let version = self.base.rsplit_once('/').map_or("", |(_, last)| last);
                let own = path.strip_prefix('/').and_then(|path| path.strip_prefix(version));
                let own = own.filter(|rest| version.starts_with("v1") && rest.starts_with('/'));
                self.join(own.unwrap_or(path), query)
            }
            None => self.join(&[self.version, path].concat(), query),
        }
    }

    /// Returns the URL of a socket: like that of a turn if the path has no other prefix than a version.
    pub(crate) fn socket(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let is_plain = without_version(path.trim_end_matches('/')) == "/responses";
        if is_plain { self.route(path, query) } else { self.prefixed(path, query) }
    }

    /// Returns the URL for any other path: as the client wrote it, but without a version or a first
    /// segment that the upstream's own URL already has, unless the request came behind a named prefix.
    pub(crate) fn other(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        if self.prefix.is_some() {
            return self.join(path, query);
        }
        // Below a proxy's `/api`, the paths of Ollama are `/api/api/chat` and `/api/api/tags`.
        let is_of_turns = self.wire.is_some_and(|wire| is_below(path, wire));
        if self.begins_like(path) && !is_of_turns {
            self.build(path, query)
        } else if self.versioned || self.begins_like(path) {
            self.route(path, query)
        } else {
            self.join(path, query)
        }
    }

    /// Returns the URL for a path with a prefix, as the client wrote it. A prefix that begins like the
    /// path of the upstream's own URL replaces it, unless the request came behind a named prefix.
    pub(crate) fn prefixed(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        if self.prefix.is_some() {
            return self.join(path, query);
        }
        if self.begins_like(path) {
            return self.build(path, query);
        }
        if self.versioned && !self.version.is_empty() {
            return self.join(&[self.version, without_version(path)].concat(), query);
        }
        self.join(path, query)
    }

    /// Returns `true` if the first segment of a path is also that of the upstream's own URL.
    fn begins_like(&self, path: &str) -> bool {
        let first = |path| str::split(path, '/').nth(1).map(str::to_owned);
        !self.base.is_empty() && first(&self.base) == first(path)
    }

    fn join(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        self.build(&[self.base.as_str(), path].concat(), query)
    }

    fn build(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let query = query.map(|query| ["?", query].concat()).unwrap_or_default();
        let whole = [path, &query].concat();
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(whole)
            .build()
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UpstreamConfig;

    #[test]
    fn addresses_are_joined_with_one_version() {
        for (url, path, route, other) in [
            (
                "http://h",
                "/chat/completions",
                "http://h/v1/chat/completions",
                "http://h/chat/completions",
            ),
            ("http://h/", "/v1/models", "http://h/v1/models", "http://h/v1/models"),
            ("http://h/v1", "/v1/models", "http://h/v1/models", "http://h/v1/models"),
            ("http://h/api/v1/", "/models", "http://h/api/v1/models", "http://h/api/v1/models"),
        ] {
            let upstream = Upstream::new(&url.parse().unwrap()).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), route);
            assert_eq!(upstream.other(path, None).unwrap(), other);
        }
    }

    #[test]
    fn complete_paths_get_no_version() {
        for (url, path, route) in [
            ("http://h", "/api/chat", "http://h/api/chat"),
            ("http://h/v1", "/v1beta/models/g:x", "http://h/v1beta/models/g:x"),
            ("http://h/v1beta/", "/v1beta/models/g:x", "http://h/v1beta/models/g:x"),
            ("http://h/a", "/model/m/converse", "http://h/a/model/m/converse"),
        ] {
            let upstream = Upstream::new(&url.parse().unwrap()).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), route);
        }
    }

    #[test]
    fn addresses_that_are_complete() {
        for (url, path, address) in [
            ("http://h/v4/", "/v1/chat/completions", "http://h/v4/chat/completions"),
            ("http://h/v1", "/v1/embeddings", "http://h/v1/embeddings"),
            ("http://h", "/chat/completions", "http://h/chat/completions"),
        ] {
            let config = UpstreamConfig { unversioned: true, ..url.parse().unwrap() };
            let upstream = Upstream::new(&config).unwrap();
            assert_eq!(upstream.route(path, None).unwrap(), address);
            assert_eq!(upstream.other(path, None).unwrap(), address);
        }
    }

    #[test]
    fn the_path_of_the_upstream_is_not_doubled() {
        let other = |upstream: &str, path: &str| {
            let upstream = Upstream::new(&upstream.parse().unwrap()).unwrap();
            upstream.other(path, None).unwrap().to_string()
        };
        for (upstream, path, address) in [
            ("http://h/api/v1", "/api/v1/models", "http://h/api/v1/models"),
            ("http://h/api/v1", "/v1/models", "http://h/api/v1/models"),
            ("http://h/anthropic", "/anthropic/v1/files", "http://h/anthropic/v1/files"),
            ("http://h/anthropic", "/v1/files", "http://h/anthropic/v1/files"),
            ("http://h/v1beta", "/v1beta/files", "http://h/v1beta/files"),
            ("gemini=http://h/v1beta", "/v1beta/files", "http://h/v1beta/files"),
            ("http://h/an", "/anthropic/v1/files", "http://h/an/anthropic/v1/files"),
            // Ollama below a path of a proxy: turns go to `/api/api/chat`.
            ("ollama=http://h/api", "/api/tags", "http://h/api/api/tags"),
        ] {
            assert_eq!(other(upstream, path), address, "{path} for {upstream}");
        }
    }
}

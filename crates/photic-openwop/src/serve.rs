//! Routes, authentication and protocol versions.

use crate::exchange::{Answer, OpenwopRequest, Version};
use crate::failure::Failure;
use crate::host::Host;
use crate::{call, discovery, media, safe_fetch, surface, wrap};

const DISCOVERY: &str = "/.well-known/openwop";
/// Prefixes of the test endpoints, in versions one and two.
const SEAMS: [&str; 2] = ["/v1/host/sample/", "/conformance/seams/sample/"];
const MEDIA: &str = "/v1/host/media";

/// A route of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route<'a> {
    Discovery,
    Call,
    Wrap,
    Fetch,
    Surface,
    Upload,
    Media(&'a str),
    Signed(&'a str),
}

/// Returns whether a path belongs to the protocol.
pub fn is_ours(path: &str) -> bool {
    path == DISCOVERY
        || path == MEDIA
        || SEAMS.iter().any(|seams| path.starts_with(seams))
        || path.strip_prefix(MEDIA).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns whether a path of the protocol needs no key.
pub fn is_public(path: &str) -> bool {
    path == DISCOVERY || path.starts_with(media::SHOWN)
}

/// Answers a request. Failures are answers, too.
pub async fn answer<H: Host>(host: &H, asked: OpenwopRequest<'_>) -> Answer {
    let version = match asked.version.map(str::trim) {
        None | Some("1" | "1.0") => Ok(Version::One),
        Some("2" | "2.0") => Ok(Version::Two),
        Some(_) => Err(Failure::Version),
    };
    let said = asked.version.is_some();
    let (version, answered) = match version {
        Ok(version) => (version, dispatch(host, version, asked).await),
        Err(failure) => (Version::One, Err(failure)),
    };
    let answer = answered.unwrap_or_else(|failure| failure.render());
    match (version, said) {
        (Version::Two, _) => answer.with("OpenWOP-Version", "2.0"),
        (Version::One, true) => answer.with("OpenWOP-Version", "1.0"),
        (Version::One, false) => answer,
    }
}

async fn dispatch<H: Host>(
    host: &H,
    version: Version,
    asked: OpenwopRequest<'_>,
) -> Result<Answer, Failure> {
    let route = Route::of(asked.path).ok_or(Failure::NotFound)?;
    let allowed = route.methods();
    if !allowed.split(", ").any(|method| method == asked.method) {
        return Err(Failure::Method(allowed));
    }
    // These two are public; the token of the second authorizes by itself.
    match route {
        Route::Discovery => return Ok(discovery::discover(host, version, asked.if_none_match)),
        Route::Signed(token) => return media::shown(host, token).await,
        _ => {}
    }
    let tenant = host.tenant(asked.bearer).await?.ok_or(Failure::Unauthenticated)?;
    match route {
        Route::Call => call::call(host, &tenant, &asked.body).await,
        Route::Wrap => wrap::wrap(&asked.body),
        Route::Fetch => safe_fetch::fetch(host, &tenant, &asked.body).await,
        Route::Surface => surface::surface(host, &tenant, &asked.body).await,
        Route::Upload => media::upload(host, &tenant, asked.content_type, asked.body).await,
        Route::Media(name) if asked.method == "DELETE" => media::forget(host, &tenant, name).await,
        Route::Media(name) => media::facts(host, &tenant, name).await,
        Route::Discovery | Route::Signed(_) => Err(Failure::NotFound),
    }
}

impl<'a> Route<'a> {
    fn of(path: &'a str) -> Option<Self> {
        if let Some(seam) = SEAMS.iter().find_map(|seams| path.strip_prefix(seams)) {
            return match seam {
                "ai/call" => Some(Self::Call),
                "test/llm-prompt-wrap" => Some(Self::Wrap),
                "http/safe-fetch" => Some(Self::Fetch),
                "test/surface" => Some(Self::Surface),
                _ => None,
            };
        }
        match path {
            DISCOVERY => Some(Self::Discovery),
            MEDIA => Some(Self::Upload),
            _ => {
                match (path.strip_prefix(media::SHOWN), path.strip_prefix(MEDIA)?.strip_prefix('/'))
                {
                    (Some(token), _) => Some(Self::Signed(token)),
                    (None, Some(name)) if !name.is_empty() => Some(Self::Media(name)),
                    (None, _) => None,
                }
            }
        }
    }

    const fn methods(self) -> &'static str {
        match self {
            Self::Discovery | Self::Signed(_) => "GET",
            Self::Call | Self::Wrap | Self::Fetch | Self::Surface | Self::Upload => "POST",
            Self::Media(_) => "GET, DELETE",
        }
    }
}

//! Which address is what, who may ask, and in which version an answer is given.

use crate::exchange::{Answer, Asked};
use crate::failure::Failure;
use crate::host::Host;
use crate::{call, discovery, fetching, media, surface, wrap};

const DISCOVERY: &str = "/.well-known/openwop";
/// Where the seams are, in the first version and in the second.
const SEAMS: [&str; 2] = ["/v1/host/sample/", "/conformance/seams/sample/"];
pub(crate) const MEDIA: &str = "/v1/host/media";
const SHOWN: &str = "/v1/host/media/shown/";

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route<'a> {
    Discovery,
    Call,
    Wrap,
    Fetch,
    Surface,
    Upload,
    Media(&'a str),
    Shown(&'a str),
}

/// Whether a path belongs to the protocol.
pub fn is_ours(path: &str) -> bool {
    path == DISCOVERY
        || path == MEDIA
        || SEAMS.iter().any(|seams| path.starts_with(seams))
        || path.strip_prefix(MEDIA).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a path of the protocol is for everybody: then no key has to be looked at.
pub fn is_public(path: &str) -> bool {
    path == DISCOVERY || path.starts_with(SHOWN)
}

/// Answers a request; what fails is an answer, too.
pub async fn answer<H: Host>(host: &H, asked: Asked<'_>) -> Answer {
    let version = match asked.version.map(str::trim) {
        None | Some("1" | "1.0") => Ok(Version::One),
        Some("2" | "2.0") => Ok(Version::Two),
        Some(_) => Err(Failure::Version),
    };
    let said = asked.version.is_some();
    let (version, answered) = match version {
        Ok(version) => (version, led(host, version, asked).await),
        Err(failure) => (Version::One, Err(failure)),
    };
    let answer = answered.unwrap_or_else(|failure| failure.render());
    match (version, said) {
        (Version::Two, _) => answer.with("OpenWOP-Version", "2.0"),
        (Version::One, true) => answer.with("OpenWOP-Version", "1.0"),
        (Version::One, false) => answer,
    }
}

async fn led<H: Host>(host: &H, version: Version, asked: Asked<'_>) -> Result<Answer, Failure> {
    let route = Route::of(asked.path).ok_or(Failure::NotFound)?;
    let allowed = route.methods();
    if !allowed.split(", ").any(|method| method == asked.method) {
        return Err(Failure::Method(allowed));
    }
    // These two are for everybody; the second says itself who may look.
    match route {
        Route::Discovery => return Ok(discovery::discover(host, version, asked.if_none_match)),
        Route::Shown(token) => return media::shown(host, token).await,
        _ => {}
    }
    let tenant = host.tenant(asked.bearer).await?.ok_or(Failure::Unauthenticated)?;
    match route {
        Route::Call => call::call(host, &tenant, &asked.body).await,
        Route::Wrap => wrap::wrap(&asked.body),
        Route::Fetch => fetching::fetch(host, &tenant, &asked.body).await,
        Route::Surface => surface::surface(host, &tenant, &asked.body).await,
        Route::Upload => media::upload(host, &tenant, asked.content_type, asked.body).await,
        Route::Media(name) if asked.method == "DELETE" => media::forget(host, &tenant, name).await,
        Route::Media(name) => media::facts(host, &tenant, name).await,
        Route::Discovery | Route::Shown(_) => Err(Failure::NotFound),
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
            _ => match (path.strip_prefix(SHOWN), path.strip_prefix(MEDIA)?.strip_prefix('/')) {
                (Some(token), _) => Some(Self::Shown(token)),
                (None, Some(name)) if !name.is_empty() => Some(Self::Media(name)),
                (None, _) => None,
            },
        }
    }

    const fn methods(self) -> &'static str {
        match self {
            Self::Discovery | Self::Shown(_) => "GET",
            Self::Call | Self::Wrap | Self::Fetch | Self::Surface | Self::Upload => "POST",
            Self::Media(_) => "GET, DELETE",
        }
    }
}

/// The address of an object, for whoever has its token.
pub(crate) fn shown_at(token: &str) -> String {
    format!("{SHOWN}{token}")
}

//! Failures of a question to a model, classified for retries.
//!
//! The cause decides: an outage passes, a rejected picture stays rejected, and a wrong key fails
//! for every picture. If the cause is unclear, the question is neither retried at once nor stored
//! as answered.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderMap;
use http::header::RETRY_AFTER;
use http::response::Parts;
use photic::rejection::Class;
use photic::reply::Usage;

use crate::refusal::Refusal;

/// Longest pause that is accepted from a provider.
const MAX_PAUSE: Duration = Duration::from_hours(24);

/// Phrases by which providers refuse a picture.
const POLICY_PHRASES: [&str; 6] = [
    "content_policy",
    "content policy",
    "content_filter",
    "content filter",
    "safety system",
    "moderation",
];
/// Phrases for exhausted accounts, where waiting does not help.
const ACCOUNT_PHRASES: [&str; 3] = ["insufficient_quota", "credit balance", "billing_hard_limit"];

/// Cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The provider is overloaded, and may name a pause.
    Load(Option<Duration>),
    /// A temporary failure of a connection or server.
    Moment,
    /// This picture: a retry would fail again.
    Picture,
    /// The key, the model or the account: every other picture would fail as well.
    Everything,
    /// The cause is unknown.
    Unclear,
}

/// A question without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InspectFailure {
    /// The refusal to show.
    pub(crate) refusal: Refusal,
    pub(crate) blame: Blame,
    /// Token usage, if the model reported it.
    pub(crate) usage: Option<Usage>,
    /// Set if the model may have processed the request.
    pub(crate) may_be_billed: bool,
}

impl InspectFailure {
    pub(super) const fn new(refusal: Refusal, blame: Blame) -> Self {
        Self { refusal, blame, usage: None, may_be_billed: false }
    }

    /// Creates the failure of a request that was not delivered.
    pub(super) const fn later(refusal: Refusal) -> Self {
        Self::new(refusal, Blame::Moment)
    }

    /// Creates the failure of a request that was interrupted.
    pub(super) const fn broke_off(refusal: Refusal) -> Self {
        Self { refusal, blame: Blame::Moment, usage: None, may_be_billed: true }
    }

    pub(super) const fn hopeless(refusal: Refusal) -> Self {
        Self::new(refusal, Blame::Everything)
    }

    /// Creates the failure of a request that the provider rejected.
    pub(super) fn rejected(refusal: Refusal, head: &Parts, class: Class, said: &str) -> Self {
        let wait = retry_after(&head.headers, SystemTime::now());
        Self::new(refusal, blame(head.status.as_u16(), class, wait, &said.to_lowercase()))
    }
}

fn blame(status: u16, class: Class, wait: Option<Duration>, said: &str) -> Blame {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match (status, class) {
        _ if says(&ACCOUNT_PHRASES) => Blame::Everything,
        (429 | 529, _) => Blame::Load(wait),
        (500..600, _) if wait.is_some() => Blame::Load(wait),
        (408 | 409 | 425 | 500..600, _) => Blame::Moment,
        (401..=404, _) => Blame::Everything,
        (_, Class::ModalityUnsupported | Class::RoleNotAllowed | Class::KnobUnsupported) => {
            Blame::Everything
        }
        (
            _,
            Class::TooLargeBytes
            | Class::TooLargeDim
            | Class::TooMany
            | Class::TooSmall
            | Class::BadImage
            | Class::BadFormat
            | Class::BadLabel
            | Class::BodyTooLarge
            | Class::ContextOverflow,
        ) => Blame::Picture,
        _ if says(&POLICY_PHRASES) => Blame::Picture,
        (_, Class::Order | Class::EmptyText | Class::FetchFailed | Class::Unrelated) => {
            Blame::Unclear
        }
    }
}

/// Parses the pause a provider asks for: milliseconds, seconds, or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
    let milliseconds = text("retry-after-ms").and_then(number).map(|ms| ms / 1000.0);
    let seconds = || text(RETRY_AFTER.as_str()).and_then(number);
    let told = milliseconds.or_else(seconds).map(|s| Duration::from_secs_f64(s.min(1e9)));
    let until = || date(text(RETRY_AFTER.as_str())?)?.duration_since(now).ok();
    told.or_else(until).map(|wait| wait.min(MAX_PAUSE))
}

/// Parses the date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<SystemTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.strip_suffix(" GMT")?.split([' ', ':']).skip(1);
    let number = |words: &mut dyn Iterator<Item = &str>| words.next()?.parse::<u64>().ok();
    let day = number(&mut words)?;
    let month = MONTHS.find(words.next()?).filter(|at| at % 3 == 0)? as u64 / 3;
    let year = number(&mut words)?.clamp(1970, 9999);
    let clock = [number(&mut words)?, number(&mut words)?, number(&mut words)?];
    // A year that begins in March has its leap day at the end.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1;
    let days = days.checked_sub(719_468)?;
    let seconds = clock.iter().fold(0, |sum, part| sum * 60 + part);
    Some(UNIX_EPOCH + Duration::from_secs(days * 86_400 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(headers: &[(&'static str, &str)]) -> Option<u64> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()));
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777 - 90);
        retry_after(&pairs.collect(), now).map(|wait| wait.as_millis() as u64)
    }

    #[test]
    fn providers_say_in_three_ways_when_to_come_back() {
        assert_eq!(waits(&[]), None);
        assert_eq!(waits(&[("retry-after", "7")]), Some(7000));
        assert_eq!(waits(&[("retry-after", "0.25")]), Some(250));
        assert_eq!(waits(&[("retry-after", "7"), ("retry-after-ms", "120")]), Some(120));
        assert_eq!(waits(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(90_000));
        assert_eq!(waits(&[("retry-after", "Sat, 01 Jan 1994 00:00:00 GMT")]), None);
        assert_eq!(waits(&[("retry-after", "soon")]), None);
        assert_eq!(waits(&[("retry-after", "99999999999")]), Some(86_400_000));
        assert_eq!(
            date("Thu, 29 Feb 2024 12:00:00 GMT"),
            Some(UNIX_EPOCH + Duration::from_hours(474_780))
        );
    }

    #[test]
    fn what_is_blamed_decides_what_is_done() {
        let wait = Some(Duration::from_secs(3));
        let unrelated = Class::Unrelated;
        assert_eq!(blame(429, unrelated, wait, "slow down"), Blame::Load(wait));
        assert_eq!(blame(529, unrelated, None, "overloaded"), Blame::Load(None));
        assert_eq!(blame(503, unrelated, wait, ""), Blame::Load(wait));
        assert_eq!(blame(500, unrelated, None, ""), Blame::Moment);
        assert_eq!(blame(429, unrelated, wait, "code: insufficient_quota"), Blame::Everything);
        assert_eq!(blame(401, unrelated, None, ""), Blame::Everything);
        assert_eq!(blame(400, Class::ModalityUnsupported, None, ""), Blame::Everything);
        assert_eq!(blame(400, Class::BadImage, None, ""), Blame::Picture);
        assert_eq!(blame(413, Class::BodyTooLarge, None, ""), Blame::Picture);
        assert_eq!(blame(400, unrelated, None, "our safety system"), Blame::Picture);
        assert_eq!(blame(400, unrelated, None, "max_tokens: too large"), Blame::Unclear);
    }
}

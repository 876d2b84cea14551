//! The trace of a request, by W3C Trace Context, and unique ids.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use http::header::{HeaderMap, HeaderName, HeaderValue};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The span of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(super) id: u128,
    pub(super) span: u64,
    /// The span of the client.
    pub(super) parent: Option<u64>,
    pub(super) began: SystemTime,
}

impl Trace {
    /// Continues the client's trace or begins one, and passes it to the upstream in a header. Returns
    /// `None` if the client decided not to trace the request.
    pub(super) fn take_over(headers: &mut HeaderMap, ids: &Ids) -> Option<Self> {
        let caller = headers.get(TRACEPARENT).and_then(|value| parent(value.to_str().ok()?));
        let (id, parent) = match caller {
            Some(Parent { sampled: false, .. }) => return None,
            Some(Parent { trace, span, .. }) => (trace, Some(span)),
            None => {
                // The state belongs to a parent that cannot be parsed.
                headers.remove(TRACESTATE);
                (u128::from(ids.next()) << 64 | u128::from(ids.next()), None)
            }
        };
        let this = Self { id, span: ids.next(), parent, began: SystemTime::now() };
        let value = format!("00-{:032x}-{:016x}-01", this.id, this.span);
        headers.insert(TRACEPARENT, HeaderValue::from_str(&value).ok()?);
        Some(this)
    }
}

/// The trace of a client.
struct Parent {
    trace: u128,
    span: u64,
    sampled: bool,
}

/// Parses `VERSION-TRACE-SPAN-FLAGS`, each of a fixed length. Later versions may add more.
fn parent(text: &str) -> Option<Parent> {
    let mut parts = text.split('-');
    let mut part = |length: usize| {
        let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        parts.next().filter(|part| part.len() == length && part.bytes().all(lower))
    };
    let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
    let span = u64::from_str_radix(span, 16).ok().filter(|span| *span != 0)?;
    let flags = u8::from_str_radix(flags, 16).ok()?;
    Some(Parent { trace, span, sampled: flags & 1 == 1 })
}

/// Generates ids that are unique in this process, and unlikely to repeat in others.
#[derive(Debug)]
pub(super) struct Ids {
    seed: u64,
    next: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        // The only source of randomness in the standard library.
        Self { seed: RandomState::new().hash_one(SystemTime::now()), next: AtomicU64::new(1) }
    }

    /// Returns the next id, which is never 0. `SplitMix64` (Steele, Lea, Flood 2014) yields every
    /// number once.
    pub(super) fn next(&self) -> u64 {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        let mut mixed = self.seed.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn taken(traceparent: &str) -> (Option<Trace>, HeaderMap) {
        let mut headers = HeaderMap::new();
        headers.insert(TRACEPARENT, HeaderValue::from_str(traceparent).unwrap());
        headers.insert(TRACESTATE, HeaderValue::from_static("v=1"));
        let trace = Trace::take_over(&mut headers, &Ids::new());
        (trace, headers)
    }

    #[test]
    fn a_trace_goes_on() {
        let (trace, headers) = taken(CALLER);
        let trace = trace.unwrap();
        assert_eq!(trace.id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!(trace.parent, Some(0xb7ad_6b71_6920_3331));
        let sent = format!("00-0af7651916cd43dd8448eb211c80319c-{:016x}-01", trace.span);
        assert_eq!(headers[TRACEPARENT], sent.as_str());
        assert_eq!(headers[TRACESTATE], "v=1");
    }

    #[test]
    fn whoever_is_not_traced_stays_so() {
        let unsampled = CALLER.replace("-01", "-00");
        let (trace, headers) = taken(&unsampled);
        assert_eq!(
            (trace, &headers[TRACEPARENT]),
            (None, &HeaderValue::from_str(&unsampled).unwrap())
        );
    }

    #[test]
    fn what_cannot_be_read_begins_anew() {
        for wrong in [
            "",
            "00-0-0-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            let (trace, headers) = taken(wrong);
            assert_eq!(trace.unwrap().parent, None, "{wrong}");
            assert!(!headers.contains_key(TRACESTATE), "{wrong}");
        }
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
        assert!(taken(later).0.unwrap().parent.is_some());
    }

    #[test]
    fn numbers_differ() {
        let ids = Ids::new();
        let mut all: Vec<u64> = (0..1000).map(|_| ids.next()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1000);
        assert_ne!(Ids::new().next(), Ids::new().next());
    }
}

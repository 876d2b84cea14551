//! The usage of turns by caller and model: in metrics, in the usage log, and in the caller's budget.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use photic::reply::Usage;
use serde_json::json;

use super::request_log::{Ending, RequestLog};
use super::series::{Names, Page};
use super::time::now;
use super::usage_log::UsageLog;
use crate::counter::Counter;
use crate::tenant::Cost;

/// Maximum number of callers, and of models, in labels. The last one counts all further ones.
const MAX_NAMES: usize = 64;
/// Bytes of a reply for each of its tokens, where the provider reports none.
const BYTES_PER_TOKEN: u64 = 4;

/// The tokens, pictures and dollars of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TurnUse {
    usage: Usage,
    /// Set if the provider reported nothing, so that it is an estimate.
    is_estimated: bool,
    pictures: u32,
    /// `None` if the model has no list price.
    usd: Option<f64>,
}

/// The sums of one caller and one model.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    requests: u64,
    input: u64,
    cached: u64,
    output: u64,
    pictures: u64,
    usd: f64,
}

/// The usage of all callers.
#[derive(Debug, Default)]
pub(crate) struct CallerUsage {
    callers: Names<MAX_NAMES>,
    models: Names<MAX_NAMES>,
    sums: Mutex<BTreeMap<(usize, usize), Sums>>,
}

impl TurnUse {
    /// Returns what a request used that has ended. `None` if it was no turn, or failed.
    fn of(log: &RequestLog) -> Option<Self> {
        let price = log.price.as_ref().filter(|_| log.is_success() && log.failure.is_none())?;
        let reported = log.outcome.as_ref().and_then(|outcome| outcome.usage.get());
        let estimated = || Usage {
            input: log.tokens,
            output: log.bytes_out / BYTES_PER_TOKEN,
            ..Usage::default()
        };
        let usage = reported.copied().unwrap_or_else(estimated);
        let (is_estimated, pictures) = (reported.is_none(), log.facts.images.shown());
        Some(Self { usage, is_estimated, pictures, usd: price.usd(&usage) })
    }
}

impl CallerUsage {
    /// Counts a request that has ended, if its caller is known by name.
    pub(super) fn ended(&self, log: &mut RequestLog, usage_log: Option<&UsageLog>, lost: &Counter) {
        let used = TurnUse::of(log);
        if let Some(spending) = log.spending.take() {
            let cost = used.map_or_else(Cost::default, |used| Cost {
                tokens: used.usage.input.saturating_add(used.usage.output),
                usd: used.usd.unwrap_or_default(),
            });
            // A client that left may have been billed for more than it read.
            let is_unknown =
                used.is_some_and(|used| used.is_estimated) && log.ending != Ending::Complete;
            spending.settle((!is_unknown).then_some(cost));
        }
        let (Some(caller), Some(used)) = (&log.caller, used) else { return };
        let model = log.facts.model.name().unwrap_or("unknown");
        let place = (self.callers.place(&caller.name), self.models.place(model));
        {
            let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
            let sums = sums.entry(place).or_default();
            sums.requests += 1;
            sums.input += used.usage.input;
            sums.cached += used.usage.cache_read;
            sums.output += used.usage.output;
            sums.pictures += u64::from(used.pictures);
            sums.usd += used.usd.unwrap_or_default();
        }
        if let Some(usage_log) = usage_log {
            usage_log.write(line(&caller.name, model, log, used), lost);
        }
    }

    /// Writes the sums to a page.
    pub(super) fn write(&self, page: &mut Page) {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let callers: BTreeMap<usize, &str> = self.callers.iter().collect();
        let models: BTreeMap<usize, &str> = self.models.iter().collect();
        let labels = |(caller, model): (usize, usize)| {
            [("caller", callers[&caller]), ("model", models[&model])]
        };
        let name = "photic_caller_requests_total";
        page.family(name, "counter", "Turns that succeeded, by caller and model.");
        for (place, sums) in &sums {
            page.sample(name, &labels(*place), sums.requests);
        }
        let name = "photic_caller_tokens_total";
        page.family(name, "counter", "Tokens of callers; cached ones are part of the input.");
        for (place, sums) in &sums {
            let [caller, model] = labels(*place);
            for (kind, count) in
                [("input", sums.input), ("cached", sums.cached), ("output", sums.output)]
            {
                page.sample(name, &[caller, model, ("kind", kind)], count);
            }
        }
        let name = "photic_caller_pictures_total";
        let help = "Pictures that turns of callers showed. Counted in every turn.";
        page.family(name, "counter", help);
        for (place, sums) in &sums {
            page.sample(name, &labels(*place), sums.pictures);
        }
        let name = "photic_caller_usd_total";
        page.family(name, "counter", "US dollars of callers at list price.");
        for (place, sums) in &sums {
            page.sample(name, &labels(*place), sums.usd);
        }
    }
}

/// Returns the line of a turn in the usage log.
fn line(caller: &str, model: &str, log: &RequestLog, used: TurnUse) -> String {
    let TurnUse { usage, is_estimated, pictures, usd } = used;
    let line = json!({
        "time": now(),
        "id": format!("{:016x}", log.id),
        "caller": caller,
        "model": model,
        "upstream": log.host(),
        "input": usage.input,
        "cached": usage.cache_read,
        "output": usage.output,
        "pictures": pictures,
        "usd": usd,
        "estimated": is_estimated,
    });
    format!("{line}\n")
}

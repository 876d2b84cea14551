//! Describes the outcome of a request for the record, once its reply has ended.

use std::time::{SystemTime, UNIX_EPOCH};

use photic_store::record::{ReportedUsage, RequestEnd, RequestOutcome};

use super::request_log::{Ending, RequestLog};
use crate::http::Passed;

/// Hands the outcome of a request to the record, if it is recorded.
pub(super) fn conclude(log: &mut RequestLog) {
    let Some(conclusion) = log.conclusion.take() else { return };
    // Tokens were counted, for example.
    if !log.route.is_turn() && log.passed.is_none() && !conclusion.has_turn() {
        return;
    }
    let (total, outcome) = (log.begun.elapsed(), log.outcome.as_deref());
    let usage = outcome.and_then(|outcome| outcome.usage.get().copied());
    let priced = outcome.and_then(|outcome| outcome.profile.as_deref()).zip(usage);
    let milliseconds =
        |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let begun = now.saturating_sub(total).as_millis();
    if outcome.is_some_and(|outcome| !outcome.healed.is_empty()) && log.is_success() {
        conclusion.learned();
    }
    let written = RequestOutcome {
        begun: i64::try_from(begun).unwrap_or(i64::MAX),
        first_byte_ms: log.first_byte.map(milliseconds),
        total_ms: milliseconds(total),
        status: Some(log.status).filter(|status| *status > 0),
        ended: match (log.failure, log.ending) {
            (Some(_), _) => RequestEnd::Failed,
            (None, Ending::Complete) => RequestEnd::Complete,
            (None, Ending::Open) => RequestEnd::ClientGone,
            (None, Ending::Broken) => RequestEnd::ProviderGone,
        },
        reason: log.passed.map(Passed::name).or(log.failure).map(str::to_owned),
        host: log.host().map(str::to_owned),
        sent_wire: log.upstream.as_ref().map(|(_, wire)| *wire),
        model: log.facts.model.name().map(str::to_owned),
        request: Some(format!("{:016x}", log.id)),
        provider_request: log.provider_request.take(),
        bytes_in: log.bytes_in,
        bytes_sent: log.bytes_sent,
        bytes_out: log.bytes_out,
        attempts: std::mem::take(&mut log.attempts),
        usage: usage.map(ReportedUsage::from).unwrap_or_default(),
        input_usd: priced.and_then(|(known, usage)| known.profile.usd(&usage)),
        output_usd: priced.and_then(|(known, usage)| known.profile.output_usd(&usage)),
        ..RequestOutcome::default()
    };
    let reply = outcome.and_then(|outcome| outcome.reply.get()).map(|reply| (**reply).clone());
    conclusion.write(log.id, written, reply);
}

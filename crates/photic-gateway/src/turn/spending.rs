//! Checks a turn against the limits of its caller, and reserves what it may cost.

use photic::reply::Usage;

use super::lower::OutboundRequest;
use super::read::InboundRequest;
use super::turns::Turns;
use crate::http::{Failure, NotMetered, Route};
use crate::observe::{RequestLog, TurnPrice};
use crate::tenant::{Admission, Admitted, Cost};

/// Tokens that a provider may add to a request: its own prompt, and the description of tools.
const HIDDEN_TOKENS: u64 = 512;

impl Turns {
    /// Checks that the caller may use the model of a turn, and reserves what the turn may cost. Callers
    /// without limits of their own are not looked at.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not use the model, or has reached a limit.
    pub(super) async fn reserve(
        &self,
        inbound: &InboundRequest,
        outbound: &OutboundRequest,
        route: Route,
        admitted: &Admitted,
        log: &mut RequestLog,
    ) -> Result<(), Failure> {
        let Some(caller) = &admitted.caller.named else { return Ok(()) };
        let model = outbound.params.model.as_deref();
        if outbound.profile.is_none() || model.is_none() {
            // A request that is sent as it came was not read for its model, and an upstream may have
            // another name for it.
            let (transcript, _) = inbound.lift();
            let model = transcript.settings.model.as_ref().map(photic::json::Str::decode);
            Admission::check_model(&admitted.caller, model.as_deref())?;
        } else {
            Admission::check_model(&admitted.caller, model)?;
        }
        if matches!(route, Route::CountTokens(_)) {
            return Ok(());
        }
        let price = TurnPrice::of(outbound.profile.as_ref(), self.pipeline.output_price);
        if caller.limits.meters_turns() {
            let default = u64::from(self.pipeline.reply_tokens);
            let output = outbound.max_tokens.unwrap_or(default);
            // Estimates of words differ from what providers count. Without one, every byte counts.
            let input = match outbound.tokens {
                0 => outbound.bytes() / 2,
                tokens => tokens + tokens / 4,
            };
            let bound = Usage { input: input + HIDDEN_TOKENS, output, ..Usage::default() };
            let usd = match (caller.limits.usd_per_day, price.usd(&bound)) {
                (None, usd) => usd.unwrap_or_default(),
                (Some(_), Some(usd)) => usd,
                (Some(_), None) => return Err(Failure::NotMetered(NotMetered::NoPrice)),
            };
            let bound = Cost { tokens: bound.input.saturating_add(bound.output), usd };
            // A request that is sent again holds what it reserved first.
            if log.spending.is_none() {
                log.spending = self.admission.reserve(caller, bound).await?;
            }
        }
        log.price = Some(price);
        Ok(())
    }
}

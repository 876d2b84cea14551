//! Contract of outcomes: of turns, of requests that failed, and of those that passed unread.

use std::time::{Duration, UNIX_EPOCH};

use photic::Wire;
use photic::reply::Usage;

use super::{ContractViolation, Conversation, promise};
use crate::blobs::Blobs;
use crate::error::Error;
use crate::handle::Tenant;
use crate::record::{
    Attempt, Record, ReportedUsage, RequestEnd, RequestOutcome, SessionId, StoredReply,
};
use crate::store::Store;

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    let id = store.begin("answered").await?;
    let talk = Conversation::new("hello");
    for time in 1..=3 {
        talk.send(store, &id, time).await?;
    }
    let whole = outcome(&id);
    let reply = StoredReply {
        media_type: "text/event-stream".to_owned(),
        bytes: b"data: {}\n\n".to_vec(),
        length: 4000,
    };
    let before = store.turn_rows(&id, 1, 10).await?;
    store.conclude(&whole, Some(&reply)).await?;
    let short = RequestOutcome {
        session: Some(id.clone()),
        turn: Some(3),
        begun: 7,
        ended: RequestEnd::ClientGone,
        ..RequestOutcome::default()
    };
    store.conclude(&short, None).await?;
    let rows = store.turn_rows(&id, 1, 10).await?;
    promise("an outcome comes back as it was", rows[1].outcome.as_ref() == Some(&whole))?;
    promise("also one that knows little", rows[2].outcome.as_ref() == Some(&short))?;
    promise("a turn without one has none", rows[0].outcome.is_none())?;
    promise("a charge replaces the estimate", rows[1].cost.usd == Some(0.25))?;
    promise("and nothing else does", rows[2].cost == before[2].cost)?;
    promise("a reply comes back", store.reply(&id, 2).await? == Some(reply))?;
    promise("only where there is one", store.reply(&id, 3).await?.is_none())?;

    let failed =
        RequestOutcome { turn: None, status: Some(400), ended: RequestEnd::Failed, ..outcome(&id) };
    store.conclude(&failed, None).await?;
    let found = store.other_outcomes(Some(&id), 10).await?;
    promise("a request that failed for good is told", found == [failed])?;
    let sums = store.session_row(&id).await?.sums;
    promise("what was reported is summed", (sums.reported, sums.failed) == (2, 1))?;
    promise("the model is the last one", sums.model.as_deref() == Some("gpt-4o"))?;
    let tokens = (sums.input, sums.cache_read, sums.cache_write, sums.output);
    promise("token by token", tokens == (2400, 2000, 200, 60))?;
    let outcomes = store.record.outcomes(&id, 2, 1).await?;
    promise("outcomes are read by their turns", outcomes == [whole])?;

    let passed = |begun: i64| RequestOutcome {
        begun,
        reason: Some("off".to_owned()),
        bytes_in: 12_345,
        ..RequestOutcome::default()
    };
    for begun in [10, 30, 20] {
        store.conclude(&passed(begun), None).await?;
    }
    let found = store.other_outcomes(None, 2).await?;
    promise("requests without a session, latest first", found == [passed(30), passed(20)])?;
    let other = Tenant::new("contract-another");
    let strange = store.record.other_outcomes(&other, None, 10).await?;
    promise("others see none of them", strange.is_empty())?;
    let strange = store.record.other_outcomes(&other, Some(&id), 10).await?;
    promise("nor those of a session", strange.is_empty())?;
    let foreign = RequestOutcome { turn: Some(1), ..outcome(&id) };
    store.record.conclude(&other, &foreign, None).await?;
    let rows = store.turn_rows(&id, 1, 1).await?;
    promise("nor write any", rows[0].outcome.is_none())?;

    store.forget(&id).await?;
    let gone = store.other_outcomes(Some(&id), 10).await;
    promise("outcomes go with their session", matches!(gone, Err(Error::NoSession(_))))?;
    store.conclude(&outcome(&id), None).await?;
    promise("and none comes later", store.other_outcomes(None, 10).await?.len() == 3)?;
    let since = UNIX_EPOCH + Duration::from_millis(25);
    store.record.sweep(&store.tenant, since).await?;
    promise("old ones are removed", store.other_outcomes(None, 10).await? == [passed(30)])
}

/// An outcome with every field.
fn outcome(id: &SessionId) -> RequestOutcome {
    let usage =
        Usage { input: 1200, output: 30, cache_read: 1000, cache_write: 100, reasoning: 10 };
    RequestOutcome {
        session: Some(id.clone()),
        turn: Some(2),
        begun: 1_794_931_568_000,
        first_byte_ms: Some(800),
        total_ms: 2500,
        status: Some(200),
        ended: RequestEnd::Complete,
        reason: Some("none".to_owned()),
        host: Some("api.openai.com".to_owned()),
        sent_wire: Some(Wire::OpenAiResponses),
        model: Some("gpt-4o".to_owned()),
        request: Some("00000000000000ff".to_owned()),
        provider_request: Some("req_011".to_owned()),
        agent: Some("claude-cli/2.1".to_owned()),
        bytes_in: 100_000,
        bytes_sent: 90_000,
        bytes_out: 3000,
        attempts: vec![
            Attempt::new(Some(400), 100_000, 300)
                .rejected("too_large", "image dimensions exceed 2000 pixels: “no”"),
            Attempt::new(Some(200), 90_000, 500),
        ],
        usage: ReportedUsage::from(usage),
        input_usd: Some(0.25),
        output_usd: Some(0.5),
    }
}

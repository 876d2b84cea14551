//! Contract of turns of which messages are left out, because the session has them.

use std::collections::BTreeMap;

use photic::{KnownPrefix, Policy, Prepared, Profile, ReadRequest, SurveyedMessages, Wire};
use serde_json::json;

use super::{ContractViolation, promise};
use crate::blobs::Blobs;
use crate::error::Error;
use crate::record::{ArrivedMessages, Fates, NewSegment, NewTurn, Record, SessionId, TurnCost};
use crate::store::{FinishedTurn, LeftOutMessages, SentBody, SentHashes, Store, WrittenMessages};

/// The messages of a turn that was stored.
struct Known {
    prefix: KnownPrefix,
    surveyed: SurveyedMessages,
    written: WrittenMessages,
}

/// Returns a request of so many turns of words.
fn request(turns: usize) -> Vec<u8> {
    let words = |turn: usize| format!("The part number {turn} has a row. ").repeat(20);
    let user = |turn| json!({"role": "user", "content": words(turn)});
    let mut messages = vec![user(0)];
    for turn in 1..=turns {
        messages.push(json!({"role": "assistant", "content": words(turn)}));
        messages.push(user(turn));
    }
    json!({"model": "gpt-4o", "messages": messages, "tools": []}).to_string().into_bytes()
}

/// Stores a request, without the messages that are known.
async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    id: &SessionId,
    body: &[u8],
    known: Option<&Known>,
) -> Result<(u64, Known), Error> {
    let (profile, policy) = (Profile::generic(Wire::OpenAiChat), Policy::default());
    let (transcript, findings) = photic::lift(Wire::OpenAiChat, body);
    let plan = photic::plan(photic::survey(&transcript), &profile, &policy);
    let lowered = photic::lower(&transcript, &plan);
    let sent = SentBody::of(&lowered.body);
    let hashes = SentHashes::of(&transcript, &lowered, Wire::OpenAiChat);
    let surveyed = SurveyedMessages::of(&plan.survey);
    let (transcript, findings, plan, lowered) = (&transcript, &*findings, &plan, &lowered);
    let read = ReadRequest { transcript, findings, policy: &policy, plan, lowered };
    let unknown = || Error::Damaged("a conversation of words is not known");
    let prefix = KnownPrefix::of(&read).ok_or_else(unknown)?;
    let prepared = Prepared::new();
    let done = FinishedTurn {
        shed: &[],
        transcript,
        plan,
        policy: &policy,
        prepared: &prepared,
        sent,
        hashes: Some(&hashes),
        conversation_key: Some([7; 16]),
        remembered: &BTreeMap::new(),
        time: 1,
    };
    let (number, written) = match known {
        None => store.append_after(id, &done, None).await?,
        Some(known) => {
            let shortened = known.prefix.shorten(body).ok_or_else(unknown)?;
            let left_out = shortened.left_out();
            let (transcript, _) = photic::lift(Wire::OpenAiChat, &shortened.body);
            let mut survey = photic::survey(&transcript);
            let short = photic::plan(survey.clone(), &profile, &policy);
            let lowered = photic::lower(&transcript, &short);
            let hashes = SentHashes::of(&transcript, &lowered, Wire::OpenAiChat);
            known.surveyed.extended(&survey, left_out).ok_or_else(unknown)?;
            surveyed.put_into(&mut survey, left_out);
            let plan = photic::plan(survey, &profile, &policy);
            let hashes = Some(&hashes);
            let done = FinishedTurn { transcript: &transcript, plan: &plan, hashes, ..done };
            let left_out = LeftOutMessages { written: &known.written, left_out };
            store.append_after(id, &done, Some(left_out)).await?
        }
    };
    Ok((number, Known { prefix, surveyed, written }))
}

pub(super) async fn suite<R: Record, B: Blobs>(
    store: &Store<R, B>,
) -> Result<(), ContractViolation> {
    let id = store.begin("parts").await?;
    let bodies: Vec<Vec<u8>> = (4..9).map(request).collect();
    let (_, mut known) = append(store, &id, &bodies[0], None).await?;
    for body in &bodies[1..] {
        let (_, whole) = append(store, &id, body, Some(&known)).await?;
        known = whole;
    }
    for (number, body) in (1..).zip(&bodies) {
        promise("a turn stored in part comes back", store.body(&id, number).await? == *body)?;
        let view = store.lower(&id, number).await?;
        promise("and what was sent of it", view.body == *body)?;
    }
    let whole = store.begin("the same, whole").await?;
    for (number, body) in (1..).zip(&bodies) {
        append(store, &whole, body, None).await?;
        let sent = store.sent_messages(&id, number).await?;
        let messages = sent.as_ref().map_or(0, |sent| sent.messages.len());
        promise("every message that was sent has a hash", messages == 7 + 2 * number as usize)?;
        let is_same = sent == store.sent_messages(&whole, number).await?;
        promise("the same as if the turn was stored whole", is_same)?;
    }
    let session = store.session(&id).await?;
    promise("no message is stored twice", (session.turns, session.messages) == (5, 17))?;

    let other = store.begin("another").await?;
    let refused = append(store, &other, &bodies[4], Some(&known)).await;
    let is_refused = matches!(refused, Err(Error::NotContinued(_)));
    promise("messages of another session are not those of this one", is_refused)?;
    let refused = store.record.append(&store.tenant, &other, &following([9; 16])).await;
    let is_refused = matches!(refused, Err(Error::NotContinued(_)));
    promise("a message that is not stored is not followed", is_refused)?;
    promise("and nothing is written", store.session(&other).await?.turns == 0)?;
    store.forget(&other).await?;

    store.forget(&id).await?;
    let refused = append(store, &id, &bodies[4], Some(&known)).await;
    promise("nor one that was forgotten", matches!(refused, Err(Error::NoSession(_))))
}

/// Returns a turn without new messages that follows a message.
fn following(chain: [u8; 16]) -> NewTurn<'static> {
    let nothing = NewSegment { raw: b"", cuts: Vec::new() };
    NewTurn {
        wire: Wire::OpenAiChat,
        before: NewSegment { raw: b"", cuts: Vec::new() },
        follows: Some(chain),
        messages: &[],
        after: nothing,
        conversation_key: None,
        profile: String::new(),
        policy: String::new(),
        circumstances: String::new(),
        memories: Vec::new(),
        holds: Vec::new(),
        made: Vec::new(),
        digest: [0; 32],
        length: 0,
        sums: TurnCost { images: 0, tokens: 0, usd: None },
        fates: Fates::default(),
        sent: None,
        arrived: ArrivedMessages::default(),
        time: 1,
    }
}

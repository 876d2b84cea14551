//! Decides if each turn of a request is repaired by itself.

use super::ReadRequest;
use crate::lower::Did;
use crate::plan::retention::{MaxLoad, NOTICE, Retention};
use crate::plan::{Former, Purpose, max_load};
use crate::tokens::text_tokens;

/// Returns `true` if the repairs of a request depend only on the turns that they are in. `left_out`
/// bytes of the whole `body` were not read.
pub(super) fn is_local(read: &ReadRequest<'_>, body: &[u8], left_out: usize) -> bool {
    let ReadRequest { transcript, plan, lowered, .. } = *read;
    transcript.is_readable()
        && transcript.own_wire() == Some(plan.profile.wire)
        // Wires that name the tool of a result give some calls an id by counting them.
        && !transcript.wire.rules().names_results
        && !transcript.settings.continues_elsewhere
        // What the provider changes by itself changes nothing here, unless it keeps a part.
        && plan.survey.notes.iter().all(|note| !note.effect.is_unplanned())
        && plan.marks.is_none()
        && plan.cleared.is_empty()
        && lowered.retired.is_empty()
        && lowered.decisions.iter().all(|decision| is_of_one_turn(&decision.did))
        && (transcript.media.is_empty() || shows_all(read, body, left_out))
}

/// Returns `true` if a repair follows from the turn that it is in.
const fn is_of_one_turn(did: &Did) -> bool {
    match did {
        Did::Hoisted
        | Did::Rewrote
        | Did::NotShown(_)
        | Did::MovedBehindResults
        | Did::MovedResultsFirst
        | Did::LeftOutEmptyText
        | Did::FilledEmpty
        | Did::MergedMessages
        | Did::AddedBridge
        | Did::WroteString
        | Did::LeftOutOfError
        | Did::WroteSource
        | Did::Respelled => true,
        // Pictures that are made have to be made again, calls and results belong together, and
        // settings may depend on each other.
        Did::Remade
        | Did::Fetched
        | Did::RenamedCall
        | Did::FilledMissing
        | Did::AddedStandInCall
        | Did::AddedOpening
        | Did::NamedResult
        | Did::Marked
        | Did::LeftOutReasoning
        | Did::LeftOutPart(_)
        | Did::LeftOutField(_)
        | Did::ChangedField(_)
        | Did::AddedField(_)
        | Did::ClearedResult
        | Did::PlannedAgain => false,
    }
}

/// Returns `true` if no medium gives way to another one, and none would if the whole request were
/// read.
fn shows_all(read: &ReadRequest<'_>, body: &[u8], left_out: usize) -> bool {
    let ReadRequest { transcript, policy, plan, lowered, .. } = *read;
    let media = transcript.media.len() as u64;
    let MaxLoad { tokens, bytes, .. } = max_load(plan.profile, policy);
    let within = |most: Option<u64>, is: u64| most.is_none_or(|most| is <= most);
    let doubt = plan.ledger.most_image_tokens.saturating_sub(plan.ledger.image_tokens);
    let most_tokens = whole_tokens(read, left_out) + doubt + NOTICE.0 * media;
    let sent = lowered.body.len() + left_out;
    let most_bytes = body.len().max(sent) as u64 + NOTICE.1 * media;
    policy.retention == Retention::All
        && policy.purpose == Purpose::Converse
        && policy.choices.is_empty()
        && policy.retired.is_empty()
        && plan.survey.clearing.is_none()
        && shown_before(plan.survey.former.as_ref())
        && plan.recipes.is_empty()
        && plan.retired(&[]).is_empty()
        && within(tokens, most_tokens)
        && within(bytes, most_bytes)
}

/// Returns `true` if the request before showed everything as it came, or is not known.
fn shown_before(former: Option<&Former>) -> bool {
    former.is_none_or(|former| former.hidden.is_empty() && former.made.is_empty())
}

/// Returns the tokens of a request of which some bytes of words were not read.
pub(super) fn whole_tokens(read: &ReadRequest<'_>, left_out: usize) -> u64 {
    let survey = &read.plan.survey;
    let words = survey.words.iter().sum::<usize>() + survey.settings;
    let (here, whole) = (text_tokens(words as u64), text_tokens((words + left_out) as u64));
    read.plan.ledger.tokens - here + whole
}

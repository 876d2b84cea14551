//! Reads and appends conversations, for stores of every kind.

use photic_store::{Blobs, Error, FinishedTurn, PreviousTurn, Record, SessionId, Store};

use super::run_sessions::RunSession;
use super::session_context::SessionContext;
use super::written_turn::Turn;

/// Loads the stored state of a conversation into a context.
pub(crate) async fn recall<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &mut SessionContext,
    references: bool,
) -> Result<(), Error> {
    if let Some((session, number)) = continued(store, context).await? {
        context.choices = store.record.choices(&session).await?;
        let turn = store.record.turn(&session, number).await?;
        context.past = turn.as_ref().map(PreviousTurn::of).transpose()?;
        context.session = Some(session);
    }
    if references {
        context.secret = Some(store.record.secret(&store.tenant).await?);
    }
    Ok(())
}

/// Returns the session that a request continues, and its last turn.
async fn continued<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
) -> Result<Option<(SessionId, u64)>, Error> {
    let keys = &context.conversation_keys;
    match context.run.as_ref().map(|(run, start)| run.find(keys, *start)) {
        Some(RunSession::Continues(turn)) => Ok(Some((turn.session, turn.number))),
        Some(RunSession::New) => Ok(None),
        Some(RunSession::Resumes) | None => store.record.continued(keys).await,
    }
}

/// Writes a turn, and notes it in its run.
pub(crate) async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
) -> Result<Turn, Error> {
    let turn = write(store, context, done).await?;
    if let Some((run, _)) = &context.run {
        run.add(&context.conversation_keys, &turn);
    }
    Ok(turn)
}

/// Writes a turn. A conversation that is not known begins a session.
async fn write<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
) -> Result<Turn, Error> {
    if let Some(session) = &context.session {
        match store.append(session, done).await {
            // The session was deleted since it was looked up.
            Err(Error::NoSession(_)) => {
                context.run.iter().for_each(|(run, _)| run.forget(session));
            }
            appended => return appended.map(|number| Turn { session: session.clone(), number }),
        }
    }
    // A concurrent request may have begun the session.
    let session = match continued(store, context).await? {
        Some((session, _)) => session,
        None => store.begin(&photic_store::title(done.transcript)).await?,
    };
    let number = store.append(&session, done).await?;
    Ok(Turn { session, number })
}

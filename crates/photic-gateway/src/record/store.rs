//! Reads and appends conversations, for stores of every kind.

use photic_store::{
    Blobs, Error, FinishedTurn, LeftOutMessages, PreviousTurn, Record, SessionId, Store,
    WrittenMessages,
};

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
    let keys = context.last_first();
    match context.run.as_ref().map(|(run, start)| run.find(&keys, *start)) {
        Some(RunSession::Continues(turn)) => Ok(Some((turn.session, turn.number))),
        Some(RunSession::New) => Ok(None),
        Some(RunSession::Resumes) | None => store.record.continued(&keys).await,
    }
}

/// Writes a turn, notes it in its run, and returns the keys of its messages. If messages are left
/// out, the session has to be the one that has them.
pub(crate) async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
    left_out: Option<LeftOutMessages<'_>>,
) -> Result<(Turn, WrittenMessages), Error> {
    let (turn, written) = write(store, context, done, left_out).await?;
    if let Some((run, _)) = &context.run {
        run.add(&context.last_first(), &turn);
    }
    Ok((turn, written))
}

/// Writes a turn. A conversation that is not known begins a session.
async fn write<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
    left_out: Option<LeftOutMessages<'_>>,
) -> Result<(Turn, WrittenMessages), Error> {
    let turn = |session: &SessionId, number| Turn { session: session.clone(), number };
    let forget = |session: &SessionId| {
        if let Some((run, _)) = &context.run {
            run.forget(session);
        }
    };
    if let Some(LeftOutMessages { written, .. }) = left_out {
        let session = written.session();
        if context.session.as_ref() != Some(session) {
            return Err(Error::NotContinued(session.clone()));
        }
        let (number, written) = store.append_after(session, done, left_out).await?;
        return Ok((turn(session, number), written));
    }
    if let Some(session) = &context.session {
        match store.append_after(session, done, None).await {
            // The session was deleted since it was looked up.
            Err(Error::NoSession(_)) => forget(session),
            appended => return appended.map(|(number, written)| (turn(session, number), written)),
        }
    }
    // A concurrent request may have begun the session.
    if let Some((session, _)) = continued(store, context).await? {
        match store.append_after(&session, done, None).await {
            // The run remembers a session that was deleted.
            Err(Error::NoSession(_)) => forget(&session),
            appended => return appended.map(|(number, written)| (turn(&session, number), written)),
        }
    }
    let session = store.begin(&photic_store::title(done.transcript)).await?;
    let (number, written) = store.append_after(&session, done, None).await?;
    Ok((turn(&session, number), written))
}

//! Reads and appends conversations, for stores of every kind.

use photic_store::{
    Blobs, Error, FinishedTurn, LeftOutMessages, PreviousTurn, Record, SessionId, Store,
    WrittenMessages,
};

use super::session_context::{SessionContext, Turn};

/// Loads the stored state of a conversation into a context.
pub(crate) async fn recall<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &mut SessionContext,
    references: bool,
) -> Result<(), Error> {
    if let Some((session, number)) = store.record.continued(&context.last_first()).await? {
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

/// Writes a turn, and returns the keys of its messages. A conversation that is not known begins a
/// session. If messages are left out, the session has to be the one that has them.
pub(crate) async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
    left_out: Option<LeftOutMessages<'_>>,
) -> Result<(Turn, WrittenMessages), Error> {
    let turn = |session: &SessionId, number| Turn { session: session.clone(), number };
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
            Err(Error::NoSession(_)) => {}
            appended => return appended.map(|(number, written)| (turn(session, number), written)),
        }
    }
    // A concurrent request may have begun the session.
    let session = match store.record.continued(&context.last_first()).await? {
        Some((session, _)) => session,
        None => store.begin(&photic_store::title(done.transcript)).await?,
    };
    let (number, written) = store.append_after(&session, done, None).await?;
    Ok((turn(&session, number), written))
}

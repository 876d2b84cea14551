//! Reads and appends conversations, for stores of every kind.

use photic_store::{Blobs, Error, FinishedTurn, PreviousTurn, Record, Store};

use super::session_context::{SessionContext, Turn};

/// Loads the stored state of a conversation into a context.
pub(crate) async fn recall<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &mut SessionContext,
    references: bool,
) -> Result<(), Error> {
    if let Some((session, number)) = store.record.continued(&context.conversation_keys).await? {
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

/// Writes a turn. A conversation that is not known begins a session.
pub(crate) async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    context: &SessionContext,
    done: &FinishedTurn<'_, '_>,
) -> Result<Turn, Error> {
    if let Some(session) = &context.session {
        match store.append(session, done).await {
            // The session was deleted since it was looked up.
            Err(Error::NoSession(_)) => {}
            appended => return appended.map(|number| Turn { session: session.clone(), number }),
        }
    }
    // A concurrent request may have begun the session.
    let session = match store.record.continued(&context.conversation_keys).await? {
        Some((session, _)) => session,
        None => store.begin(&photic_store::title(done.transcript)).await?,
    };
    let number = store.append(&session, done).await?;
    Ok(Turn { session, number })
}

//! Where conversations are kept: on this machine, or on servers that many gateways share.

use std::sync::Arc;

use photic_fleet::Fleet;
use photic_store::{
    Blobs, Error, FinishedTurn, LocalStore, PreviousTurn, Record, Store, Tenant, wait,
};

use super::{Availability, Server, SessionContext, Turn};

/// Where conversations are kept.
#[derive(Clone, Debug)]
pub(crate) enum StoreBackend {
    Local(Arc<LocalStore>),
    Fleet(Fleet, Arc<Availability>),
}

impl StoreBackend {
    /// What is known about a conversation; nothing, while the record is away.
    pub(super) async fn recall(&self, mut recalled: SessionContext, names: bool) -> SessionContext {
        match self {
            Self::Local(store) => {
                let store = Arc::clone(store);
                // What is on this machine is in files. What could not be read is not known.
                let reading = move || {
                    let _ = wait(recall(&store, &mut recalled, names));
                    recalled
                };
                tokio::task::spawn_blocking(reading).await.unwrap_or_default()
            }
            Self::Fleet(_, away) if away.is_away() => recalled,
            Self::Fleet(fleet, away) => {
                let store = fleet.store(recalled.tenant.clone());
                // Large, and most requests of most gateways never come here.
                let read = Box::pin(recall(&store, &mut recalled, names)).await;
                let _ = away.notice(read);
                recalled
            }
        }
    }

    /// Notes what the provider charged for a turn, in US dollars.
    pub(super) async fn bill(&self, tenant: &Tenant, turn: &Turn, usd: f64) -> Result<(), Error> {
        match self {
            Self::Local(store) => {
                let (store, tenant, turn) = (Arc::clone(store), tenant.clone(), turn.clone());
                let billing =
                    move || wait(store.record.billed(&tenant, &turn.session, turn.number, usd));
                tokio::task::spawn_blocking(billing).await.unwrap_or(Ok(()))
            }
            Self::Fleet(fleet, away) => {
                away.refuse(&[Server::Record])?;
                let store = fleet.store(tenant.clone());
                away.notice(store.record.billed(tenant, &turn.session, turn.number, usd).await)
            }
        }
    }

    /// Writes a turn; a conversation that is not known begins a session.
    pub(super) async fn append(
        &self,
        recalled: &SessionContext,
        done: &FinishedTurn<'_, '_>,
    ) -> Result<Turn, Error> {
        match self {
            Self::Local(store) => append(store, recalled, done).await,
            Self::Fleet(fleet, away) => {
                // Words need no bucket.
                let has_media = !done.transcript.media.is_empty();
                away.refuse(if has_media { &Server::ALL } else { &[Server::Record] })?;
                away.notice(append(&fleet.store(recalled.tenant.clone()), recalled, done).await)
            }
        }
    }
}

async fn recall<R: Record, B: Blobs>(
    store: &Store<R, B>,
    recalled: &mut SessionContext,
    names: bool,
) -> Result<(), Error> {
    if let Some((session, number)) = store.record.continued(&recalled.conversation_key).await? {
        recalled.choices = store.record.choices(&session).await?;
        let turn = store.record.turn(&session, number).await?;
        recalled.past = turn.as_ref().map(PreviousTurn::of).transpose()?;
        recalled.session = Some(session);
    }
    if names {
        recalled.secret = Some(store.record.secret(&store.tenant).await?);
    }
    Ok(())
}

async fn append<R: Record, B: Blobs>(
    store: &Store<R, B>,
    recalled: &SessionContext,
    done: &FinishedTurn<'_, '_>,
) -> Result<Turn, Error> {
    if let Some(session) = &recalled.session {
        match store.append(session, done).await {
            // Forgotten meanwhile.
            Err(Error::NoSession(_)) => {}
            appended => return appended.map(|number| Turn { session: session.clone(), number }),
        }
    }
    // What came beside it may have begun it.
    let session = match store.record.continued(&recalled.conversation_key).await? {
        Some((session, _)) => session,
        None => store.begin(&photic_store::title(done.transcript)).await?,
    };
    let number = store.append(&session, done).await?;
    Ok(Turn { session, number })
}

//! Server-sent events: hints that something in the record is new. The record is the truth.
//!
//! In a gateway the events are published by it. Beside one, the record is read again at short
//! intervals. A listener that does not read is dropped, and catches up by reading rows again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use photic_store::events::{EventListener, RecordChange, RecordEvent};
use photic_store::record::SessionQuery;
use photic_store::{Events, SessionId, Tenant};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::inspector::Inspector;

/// Most listeners.
pub(crate) const MAX_LISTENERS: usize = 16;
/// Events that may wait for a listener. One that is further behind is dropped.
const MAX_WAITING: usize = 256;
/// Time between two comments, which keep a connection open.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Time between two looks at the record of another program.
const POLL: Duration = Duration::from_millis(400);
/// Sessions that are watched for a list.
const WATCHED: usize = 50;

/// The origin of events.
#[derive(Clone, Debug)]
pub(crate) enum EventSource {
    /// A gateway in this process, and the tenant whose sessions are shown.
    Published(Events, Tenant),
    /// The record, which another program may write.
    Polled,
}

/// The listeners of a service.
#[derive(Debug)]
pub(crate) struct Listeners {
    inspector: Arc<Inspector>,
    source: EventSource,
    places: Arc<Semaphore>,
    /// Begins the numbers of events: those of another process are not continued.
    process: String,
    /// Set when the program stops, so that it need not wait for pages.
    is_stopped: watch::Sender<bool>,
}

/// A stream of events as the body of an answer.
#[derive(Debug)]
pub(crate) struct EventBody {
    events: mpsc::Receiver<Bytes>,
    _place: OwnedSemaphorePermit,
}

/// The sending end of a stream.
struct Stream {
    out: mpsc::Sender<Bytes>,
    process: String,
    number: u64,
}

/// The listener does not read, or has gone away.
struct Dropped;

impl Listeners {
    pub(crate) fn new(inspector: Arc<Inspector>, source: EventSource) -> Self {
        let mut bytes = [0; 4];
        // Without random numbers two processes may count alike, and a page misses a hint.
        let _ = getrandom::fill(&mut bytes);
        let process = format!("{:08x}", u32::from_ne_bytes(bytes));
        let places = Arc::new(Semaphore::new(MAX_LISTENERS));
        Self { inspector, source, places, process, is_stopped: watch::Sender::new(false) }
    }

    /// Ends all streams.
    pub(crate) fn stop(&self) {
        self.is_stopped.send_replace(true);
    }

    /// Begins a stream of the events of a session, or of all. `after` is the last event that the page
    /// got. Returns `None` if there are too many listeners.
    pub(crate) fn listen(
        &self,
        session: Option<SessionId>,
        after: Option<&str>,
    ) -> Option<EventBody> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let (out, events) = mpsc::channel(MAX_WAITING);
        let own = after.and_then(|after| after.strip_prefix(&format!("{}-", self.process)));
        let last: Option<u64> = own.and_then(|number| number.parse().ok());
        let is_lost = after.is_some() && last.is_none();
        let stream =
            Stream { out, process: self.process.clone(), number: last.unwrap_or_default() };
        let inspector = Arc::clone(&self.inspector);
        match &self.source {
            EventSource::Published(published, tenant) => {
                let listener = published.listen(last)?;
                let tenant = tenant.clone();
                let publishing = publish(stream, inspector, listener, tenant, session, is_lost);
                tokio::spawn(until_stopped(self.is_stopped.subscribe(), publishing));
            }
            EventSource::Polled => {
                let is_resumed = after.is_some();
                let polling = poll(stream, inspector, session, is_resumed);
                tokio::spawn(until_stopped(self.is_stopped.subscribe(), polling));
            }
        }
        Some(EventBody { events, _place: place })
    }
}

impl Stream {
    /// Sends an event with the next number.
    fn send(&mut self, name: &str, data: &Value) -> Result<(), Dropped> {
        self.number += 1;
        self.send_as(self.number, name, data)
    }

    fn send_as(&self, number: u64, name: &str, data: &Value) -> Result<(), Dropped> {
        self.write(format!("id: {}-{number}\nevent: {name}\ndata: {data}\n\n", self.process))
    }

    fn write(&self, text: String) -> Result<(), Dropped> {
        self.out.try_send(text.into()).map_err(|error| match error {
            TrySendError::Full(_) | TrySendError::Closed(_) => Dropped,
        })
    }
}

/// Runs a stream until its listener has gone, or the program stops.
async fn until_stopped(
    mut is_stopped: watch::Receiver<bool>,
    stream: impl Future<Output = Result<(), Dropped>>,
) {
    tokio::select! {
        _ = stream => {}
        _ = is_stopped.wait_for(|is_stopped| *is_stopped) => {}
    }
}

/// Sends the events of a gateway.
async fn publish(
    mut stream: Stream,
    inspector: Arc<Inspector>,
    mut listener: EventListener,
    tenant: Tenant,
    session: Option<SessionId>,
    is_lost: bool,
) -> Result<(), Dropped> {
    if is_lost {
        stream.send_as(0, "reset", &json!({}))?;
    }
    if let Some(id) = &session {
        tell_last(&stream, &inspector, id).await?;
    }
    let mut heartbeat = interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = heartbeat.tick() => stream.write(": photic\n\n".to_owned())?,
            () = stream.out.closed() => return Err(Dropped),
            event = listener.next() => match event {
                Ok(event) => {
                    stream.number = event.id;
                    let is_other = event.tenant != tenant
                        || (session.is_some() && event.session.is_some() && event.session != session);
                    if !is_other {
                        for (name, data) in told(&inspector, event).await {
                            stream.send_as(stream.number, name, &data)?;
                        }
                    }
                }
                Err(_missed) => stream.send_as(stream.number, "reset", &json!({}))?,
            },
        }
    }
}

/// Sends the last row of a session: a turn may have come after the page read the record, and before
/// the stream began.
async fn tell_last(
    stream: &Stream,
    inspector: &Arc<Inspector>,
    id: &SessionId,
) -> Result<(), Dropped> {
    let (reader, runtime, own) = (Arc::clone(inspector), Handle::current(), id.clone());
    let reading = move || {
        runtime.block_on(async {
            let last = reader.index(&own).await.ok()?.last();
            reader.rows(&own, last).await.ok()?.pop()
        })
    };
    let row = tokio::task::spawn_blocking(reading).await.ok().flatten();
    // Without a number: it is no event that a page could go on after.
    let data = row.map(|row| json!({"session": id.as_str(), "row": row}));
    data.map_or(Ok(()), |data| stream.write(format!("event: turn\ndata: {data}\n\n")))
}

/// Returns the events of a page for one of a gateway.
async fn told(inspector: &Arc<Inspector>, event: RecordEvent) -> Vec<(&'static str, Value)> {
    let session = event.session.as_ref().map(ToString::to_string);
    let mut told = Vec::new();
    let row = async |number: Option<u64>| {
        let (id, number) = (event.session.clone()?, number?);
        rows_from(inspector, id, number).await.into_iter().next()
    };
    match event.change {
        RecordChange::Opened { request, bytes } => {
            let mut data = json!({"request": request, "bytes": bytes});
            if let Some(session) = session {
                data["session"] = json!(session);
            }
            told.push(("open", data));
        }
        RecordChange::Turn { number } => {
            if let Some(row) = row(Some(number)).await {
                told.push(("turn", json!({"session": session, "row": row})));
            }
            told.push(("session", json!({"session": session})));
        }
        RecordChange::Outcome { turn, .. } => {
            if let (Some(session), Some(turn)) = (&session, turn) {
                told.push(("outcome", json!({"session": session, "n": turn})));
            }
            if let Some(row) = row(turn).await {
                told.push(("turn", json!({"session": session, "row": row})));
            }
        }
        RecordChange::Choice { picture, choice } => {
            let number = match &event.session {
                Some(id) => picture_number(inspector, id.clone(), picture).await,
                None => None,
            };
            let mut data = json!({"session": session, "choice": choice});
            if let Some(number) = number {
                data["picture"] = json!(number);
            }
            told.push(("choice", data));
        }
        RecordChange::Lesson => {
            told.push(("lesson", json!({"text": "something was learned about an endpoint"})));
        }
        RecordChange::Gone => told.push(("gone", json!({"session": session}))),
        _ => {}
    }
    told
}

/// Returns the rows of a session from a turn on. Runs on a thread for blocking work.
async fn rows_from(inspector: &Arc<Inspector>, id: SessionId, from: u64) -> Vec<Value> {
    let (inspector, runtime) = (Arc::clone(inspector), Handle::current());
    let reading = move || runtime.block_on(inspector.rows(&id, from));
    let rows = tokio::task::spawn_blocking(reading).await;
    rows.ok().and_then(Result::ok).unwrap_or_default()
}

async fn picture_number(
    inspector: &Arc<Inspector>,
    id: SessionId,
    picture: photic::Digest,
) -> Option<u32> {
    let (inspector, runtime) = (Arc::clone(inspector), Handle::current());
    let reading = move || runtime.block_on(inspector.index(&id)).ok()?.number_of(&picture);
    tokio::task::spawn_blocking(reading).await.ok().flatten()
}

/// Reads the record again and again, and sends what changed.
async fn poll(
    mut stream: Stream,
    inspector: Arc<Inspector>,
    session: Option<SessionId>,
    is_resumed: bool,
) -> Result<(), Dropped> {
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heartbeat = interval(HEARTBEAT);
    if is_resumed {
        stream.send("reset", &json!({}))?;
    }
    let mut seen: Option<BTreeMap<String, Value>> = None;
    loop {
        tokio::select! {
            _ = heartbeat.tick() => stream.write(": photic\n\n".to_owned())?,
            () = stream.out.closed() => return Err(Dropped),
            _ = ticks.tick() => {
                let (reader, runtime) = (Arc::clone(&inspector), Handle::current());
                let watched = session.clone();
                let reading = move || runtime.block_on(state(&reader, watched.as_ref()));
                let Ok(Some(state)) = tokio::task::spawn_blocking(reading).await else { continue };
                if let Some(seen) = &seen {
                    for (key, value) in &state {
                        if seen.get(key) != Some(value) {
                            stream.send(name_of(key), value)?;
                        }
                    }
                    // A long list ends somewhere: what left it may still be there.
                    let is_whole = state.len() < WATCHED;
                    let gone = seen.keys().filter(|key| is_whole && !state.contains_key(*key));
                    for key in gone {
                        if let Some(id) = key.strip_prefix("session ") {
                            stream.send("gone", &json!({"session": id}))?;
                        }
                    }
                }
                if seen.is_none() {
                    if let Some(id) = &session {
                        tell_last(&stream, &inspector, id).await?;
                    }
                    stream.write(": ready\n\n".to_owned())?;
                }
                seen = Some(state);
            }
        }
    }
}

/// Returns the name of the event about a part of the state.
fn name_of(key: &str) -> &'static str {
    match key.split(' ').next() {
        Some("turn") => "turn",
        Some("choice") => "choice",
        _ => "session",
    }
}

/// Returns the state of a session, or of the list, as the data of the event that tells each part.
/// `None` if the record cannot be read now.
async fn state(
    inspector: &Inspector,
    session: Option<&SessionId>,
) -> Option<BTreeMap<String, Value>> {
    let mut state = BTreeMap::new();
    let Some(id) = session else {
        let query = SessionQuery { limit: WATCHED, ..SessionQuery::default() };
        for row in inspector.history.sessions(&query).await.ok()?.sessions {
            let id = row.session.id.to_string();
            // Whatever changes in a row makes another value.
            let version =
                format!("{}/{}/{}", row.session.turns, row.sums.reported, row.session.last);
            state.insert(format!("session {id}"), json!({"session": id, "version": version}));
        }
        return Some(state);
    };
    let index = match inspector.index(id).await {
        Ok(index) => index,
        Err(failure) if failure.code() == "not_found" => return Some(state),
        Err(_) => return None,
    };
    state.insert(format!("session {id}"), json!({"session": id.as_str()}));
    // Rows further back do not change any more.
    let from = index.last().saturating_sub(WATCHED as u64).max(1);
    for row in inspector.rows(id, from).await.ok()? {
        let key = format!("turn {}", row["n"]);
        state.insert(key, json!({"session": id.as_str(), "row": row}));
    }
    for picture in &index.pictures {
        let data =
            json!({"session": id.as_str(), "picture": picture.number, "choice": picture.choice});
        if picture.choice.is_some() {
            state.insert(format!("choice {}", picture.number), data);
        }
    }
    Some(state)
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.events.poll_recv(context).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}

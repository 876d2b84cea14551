//! One socket of a client with its socket to the upstream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use photic::retention::Retention;
use photic_net::websocket::{Connection, Kind, Writer};
use tokio::io::{AsyncReadExt as _, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::activity::Activity;
use super::client_frame::{ClientFrame, Steer};
use super::credentials::Credentials;
use super::ending::{Ending, Goodbye, Side};
use super::incoming::{Arrived, Messages};
use super::lanes::Lanes;
use super::running::{OpenSocket, Phase};
use crate::config::NamedPrefix;
use crate::http::Body;
use crate::observe::Watchers;
use crate::turn::Turns;
use crate::upstream::Upstream;

/// The least time for which a running response may send nothing.
const MIN_SILENCE: Duration = Duration::from_mins(5);
/// The time for which a socket without a running response stays open.
const MAX_IDLE: Duration = Duration::from_hours(1);
/// The time between two looks at the limits above.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// The time for each side to take note of the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) type SocketWriter = Writer<WriteHalf<Connection>>;

/// A socket of a client, with its socket to the upstream.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) turns: Arc<Turns>,
    pub(super) watchers: Arc<Watchers>,
    pub(super) upstream: Arc<Upstream>,
    /// The path prefix that chose the upstream.
    pub(super) prefix: Option<NamedPrefix>,
    pub(super) credentials: Credentials,
    /// The retention that the client chose.
    pub(super) retention: Option<Retention>,
    /// The longest pause of an upstream while a response runs.
    pub(super) silence: Duration,
    pub(super) to_client: tokio::sync::Mutex<SocketWriter>,
    pub(super) to_upstream: tokio::sync::Mutex<SocketWriter>,
    pub(super) lanes: Mutex<Lanes>,
    pub(super) activity: Arc<Activity>,
    /// Notified when a response ends, and when its last frame is written.
    pub(super) changed: Notify,
    /// Set when no more frames are accepted.
    pub(super) is_stopping: AtomicBool,
}

impl Session {
    /// Returns the longest pause of an upstream while a response runs, by the settings.
    pub(super) fn silence(idle: Duration) -> Duration {
        idle.max(MIN_SILENCE)
    }

    /// Passes messages on until one side closes, or the gateway stops.
    pub(super) async fn run(
        self: Arc<Self>,
        mut from_client: Messages,
        mut from_upstream: Messages,
        open: &OpenSocket,
    ) {
        let ending = tokio::select! {
            ending = self.uplink(&mut from_client) => ending,
            ending = Arc::clone(&self).downlink(&mut from_upstream) => ending,
            () = self.drained(open) => Ending::Stopping,
            ending = self.watch() => ending,
        };
        self.finish(ending, from_client.into_rest(), from_upstream.into_rest()).await;
    }

    pub(super) fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes messages of the client on, one after the other.
    async fn uplink(&self, messages: &mut Messages) -> Ending {
        loop {
            let passed = match messages.next().await {
                Err(fault) => Err(Ending::Fault(Side::Client, fault)),
                // Boxed: most frames are not repaired.
                Ok(Arrived::Message(kind, body)) => Box::pin(self.handle(kind, body)).await,
                Ok(control) => self.mirror(Side::Upstream, control).await,
            };
            if let Err(ending) = passed {
                return ending;
            }
        }
    }

    async fn handle(&self, kind: Kind, body: Body) -> Result<(), Ending> {
        let counts = &self.watchers.metrics.sockets;
        counts.frames_in.add(1);
        self.lanes().touch();
        self.activity.touch();
        let frame =
            if kind == Kind::Text { ClientFrame::read(&body.bytes) } else { ClientFrame::Other };
        match frame {
            ClientFrame::Create(create) => return self.create(create, body).await,
            ClientFrame::Steer(Steer { response, has_image }) => {
                counts.unread.add(has_image.into());
                if let Some(response) = response {
                    self.lanes().steered(&response);
                }
            }
            ClientFrame::Other => {}
        }
        self.send(kind, &[body.bytes]).await
    }

    /// Writes a message to the upstream.
    pub(super) async fn send(&self, kind: Kind, pieces: &[Bytes]) -> Result<(), Ending> {
        let mut writer = self.to_upstream.lock().await;
        let _writing = self.activity.writing(pieces.iter().map(Bytes::len).sum());
        writer.message(kind, pieces).await.map_err(Ending::write)
    }

    /// Passes a control frame on to a side.
    pub(super) async fn mirror(&self, to: Side, control: Arrived) -> Result<(), Ending> {
        let writer = match to {
            Side::Upstream => &self.to_upstream,
            Side::Client => &self.to_client,
        };
        let mut writer = writer.lock().await;
        let written = match control {
            Arrived::Ping(payload) => writer.ping(payload).await,
            Arrived::Pong(payload) => writer.pong(payload).await,
            Arrived::Close(close) => return Err(Ending::Closed(close)),
            Arrived::Message(kind, body) => writer.message(kind, &[body.bytes]).await,
        };
        written.map_err(Ending::write)
    }

    /// Keeps the socket open until the last frame of a response is written. Called with the lock under
    /// which the response ends, so that the lanes are not idle in between.
    pub(super) fn begin_ending(self: &Arc<Self>, lanes: &mut Lanes) -> EndOfResponse {
        lanes.begin_ending();
        EndOfResponse(Arc::clone(self))
    }

    /// Waits until the gateway stops and no response runs.
    async fn drained(&self, open: &OpenSocket) {
        open.reached(Phase::Stopping).await;
        self.is_stopping.store(true, Ordering::Relaxed);
        let idle = async {
            loop {
                let changed = self.changed.notified();
                if self.lanes().is_idle() {
                    return;
                }
                changed.await;
            }
        };
        tokio::select! {
            () = idle => {}
            () = open.reached(Phase::Cut) => {}
        }
    }

    /// Waits until nothing was sent for too long.
    async fn watch(&self) -> Ending {
        let mut ticks = tokio::time::interval(WATCH_INTERVAL);
        loop {
            ticks.tick().await;
            let (idle, is_idle) = {
                let lanes = self.lanes();
                (lanes.idle(), lanes.is_idle())
            };
            if is_idle && idle > MAX_IDLE {
                return Ending::Idle;
            }
            if !is_idle && self.activity.is_silent(self.silence) {
                return Ending::Silent;
            }
        }
    }

    /// Tells both sides of the end, and waits for a while until they have read it.
    async fn finish(
        &self,
        ending: Ending,
        from_client: ReadHalf<Connection>,
        from_upstream: ReadHalf<Connection>,
    ) {
        let told = ending.farewell();
        let side = async |writer: &tokio::sync::Mutex<SocketWriter>, close, rest| {
            let Goodbye::Close(close) = close else { return };
            let mut writer = writer.lock().await;
            let told = async {
                if writer.close(Option::as_ref(&close)).await.is_ok() {
                    let _ = writer.shutdown().await;
                    drain(rest).await;
                }
            };
            let _ = timeout(CLOSE_TIMEOUT, told).await;
        };
        tokio::join!(
            side(&self.to_client, told.client, from_client),
            side(&self.to_upstream, told.upstream, from_upstream),
        );
    }
}

/// Keeps a socket open while the last frame of a response is written.
#[derive(Debug)]
pub(super) struct EndOfResponse(Arc<Session>);

impl Drop for EndOfResponse {
    fn drop(&mut self) {
        self.0.lanes().end_ending();
        self.0.changed.notify_waiters();
    }
}

/// Reads and drops the rest of a connection. A side that is still sending may lose what it was told if
/// the connection is closed before.
async fn drain(mut rest: ReadHalf<Connection>) {
    let mut dropped = vec![0; 16 << 10];
    while rest.read(&mut dropped).await.is_ok_and(|read| read > 0) {}
}

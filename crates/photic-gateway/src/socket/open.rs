//! Opens a socket: first to the upstream, then to the client.

use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use photic::Wire;
use photic_net::websocket::{
    ClientHandshake, Connection, Deflate, Reader, Role, ServerHandshake, Writer,
};
use photic_net::{Client, Outgoing};
use tokio::io::split;
use tokio::sync::Notify;

use super::activity::Activity;
use super::credentials::Credentials;
use super::incoming::{Messages, SMALL};
use super::lanes::Lanes;
use super::running::{OpenSocket, Running};
use super::session::Session;
use super::tunnel::tunnel;
use crate::config::NamedPrefix;
use crate::http::{ConnectionPlace, Failure, Refusal, ReplyBody, headers};
use crate::memory::{Charge, Share, Use};
use crate::observe::{SocketKind, Watchers};
use crate::tenant::{Admission, Admitted};
use crate::turn::Turns;
use crate::upstream::{Upstream, UpstreamClient};

/// The parts of the gateway that a socket needs.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) kind: SocketKind,
    pub(super) upstream: Arc<Upstream>,
    /// The wire that the request belongs to.
    pub(super) wire: Wire,
    /// The path prefix that chose the upstream.
    pub(super) prefix: Option<NamedPrefix>,
    pub(super) turns: Arc<Turns>,
    pub(super) client: Arc<UpstreamClient>,
    pub(super) admission: Arc<Admission>,
    pub(super) watchers: Arc<Watchers>,
    pub(super) running: Arc<Running>,
    pub(super) peer: IpAddr,
}

impl Opening {
    /// Asks the upstream for a socket. If it grants one, the client gets one, too.
    pub(super) async fn open(
        self,
        mut request: Request<Incoming>,
        admitted: Admitted,
    ) -> Result<Response<ReplyBody>, Failure> {
        let Ok(server) = ServerHandshake::read(request.headers()) else {
            return Err(Refusal::NoSocket.into());
        };
        // The extension has a window for each direction and side.
        let window = if server.compresses() { Deflate::MEMORY } else { 0 };
        let memory = 2 * (SMALL as u64 + window);
        let charge = admitted.share.charge(Use::Sockets, memory).await?;
        let on_upgrade = hyper::upgrade::on(&mut request);
        let place = request.extensions().get::<ConnectionPlace>().cloned();
        let credentials = Credentials::of(&request, &self);
        let retention = headers::retention(request.headers())?;
        let (asked, client) = self.asked(request, server.compresses())?;
        let reply = self.client.upgrade(&self.upstream, asked).await?;
        if reply.status() != StatusCode::SWITCHING_PROTOCOLS {
            return if has_no_socket(reply.status()) {
                Err(Refusal::NoSocket.into())
            } else {
                Ok(self.client.pass_refusal(reply))
            };
        }
        let mut granted = Response::new(ReplyBody::pieces(Vec::new()));
        *granted.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let copied = reply.headers().clone();
        *granted.headers_mut() = copied;
        headers::reply(granted.headers_mut());
        let to_upstream = client.map(|client| client.granted(reply.headers())).transpose();
        let to_upstream = to_upstream.map_err(|_| self.bad_gateway())?;
        if let Some(ConnectionPlace(place)) = &place {
            place.upgraded();
        }
        // Each response has a part of the quota. That of the request for the socket is given back
        // here, so an idle socket has none.
        let share = admitted.share.clone();
        drop(admitted);
        let held = SocketResources { _place: place, _charge: charge };
        match to_upstream {
            None => {
                switching(granted.headers_mut());
                let open = self.running.open(self.kind, &self.watchers);
                tokio::spawn(async move {
                    if let Some((client, upstream)) = connected(on_upgrade, reply).await {
                        tunnel(client, upstream, &open).await;
                    }
                    drop((open, held));
                });
            }
            Some(to_upstream) => {
                let to_client = server.grant(granted.headers_mut());
                let open = self.running.open(self.kind, &self.watchers);
                tokio::spawn(async move {
                    if let Some(both) = connected(on_upgrade, reply).await {
                        let run = Box::pin(self.run(
                            both,
                            (to_client, to_upstream),
                            (credentials, retention, share),
                            &open,
                        ));
                        run.await;
                    }
                    drop((open, held));
                });
            }
        }
        Ok(granted)
    }

    /// Returns the request to the upstream. A socket whose frames are read has a handshake of its own;
    /// that of any other is passed on.
    fn asked(
        &self,
        request: Request<Incoming>,
        compress: bool,
    ) -> Result<(Request<Outgoing>, Option<ClientHandshake>), Failure> {
        let (mut parts, _) = request.into_parts();
        let (path, query) = (parts.uri.path(), self.upstream.query(parts.uri.query()));
        let uri = match self.kind {
            SocketKind::Responses => self.upstream.socket(path, query.as_deref()),
            SocketKind::Tunnel => self.upstream.other(path, query.as_deref()),
        };
        headers::request(&mut parts.headers);
        self.upstream.set_credentials(&mut parts.headers, self.wire);
        let handshake = match self.kind {
            SocketKind::Responses => Some(ClientHandshake::ask(&mut parts.headers, compress)),
            SocketKind::Tunnel => {
                switching(&mut parts.headers);
                None
            }
        };
        let mut asked = Request::new(Outgoing::empty());
        *asked.method_mut() = Method::GET;
        *asked.uri_mut() = uri.ok_or(Failure::BadPath)?;
        *asked.headers_mut() = parts.headers;
        Ok((asked, handshake))
    }

    fn bad_gateway(&self) -> Failure {
        Failure::Closed(self.upstream.host().to_owned())
    }

    /// Runs a socket whose frames are read.
    async fn run(
        self,
        (client, upstream): (Connection, Connection),
        (to_client, to_upstream): (Option<Deflate>, Option<Deflate>),
        (credentials, retention, share): (Credentials, Option<photic::retention::Retention>, Share),
        open: &OpenSocket,
    ) {
        let bounds = self.client.bounds();
        let (client_reader, client_writer) = split(client);
        let (upstream_reader, upstream_writer) = split(upstream);
        let messages = |reader| {
            Messages::new(reader, Arc::clone(&self.turns.buffers), share.clone(), bounds.idle)
        };
        let activity = Arc::new(Activity::new());
        let from_client =
            messages(Reader::new(client_reader, Role::Server, to_client, bounds.bytes));
        let from_upstream =
            messages(Reader::new(upstream_reader, Role::Client, to_upstream, bounds.bytes))
                .noting(&activity);
        let to_client = Writer::new(client_writer, Role::Server, to_client);
        let to_upstream = Writer::new(upstream_writer, Role::Client, to_upstream);
        let session = Arc::new(Session {
            lanes: Mutex::new(Lanes::new(&share)),
            turns: self.turns,
            watchers: self.watchers,
            upstream: self.upstream,
            prefix: self.prefix,
            credentials,
            retention,
            silence: Session::silence(bounds.idle),
            to_client: tokio::sync::Mutex::new(to_client),
            to_upstream: tokio::sync::Mutex::new(to_upstream),
            activity,
            changed: Notify::new(),
            is_stopping: AtomicBool::new(false),
        });
        session.run(from_client, from_upstream, open).await;
    }
}

/// The place and the memory that a socket holds until it ends.
struct SocketResources {
    _place: Option<ConnectionPlace>,
    _charge: Charge,
}

/// Waits until both connections are sockets.
async fn connected(
    client: OnUpgrade,
    upstream: Response<Incoming>,
) -> Option<(Connection, Connection)> {
    let upstream = Client::upgraded(upstream).await.ok()?;
    let client = client.await.ok()?;
    Some((Connection::new(client), upstream))
}

/// Writes the headers that change a connection into a socket.
fn switching(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

/// Returns `true` if a reply of this status says that there is no socket, rather than why this caller
/// gets none.
fn has_no_socket(status: StatusCode) -> bool {
    let is_other = status.is_success() || status.is_redirection();
    is_other || matches!(status.as_u16(), 400 | 404 | 405 | 426 | 501)
}

impl Credentials {
    fn of(request: &Request<Incoming>, opening: &Opening) -> Self {
        let (headers, uri) = (request.headers(), request.uri());
        let values = headers.iter().flat_map(|(name, value)| {
            [name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()]
        });
        let address = std::iter::once(uri.path()).chain(uri.query()).map(str::to_owned);
        Self {
            admission: Arc::clone(&opening.admission),
            headers: headers.clone(),
            query: uri.query().map(str::to_owned),
            peer: opening.peer,
            quotable: values.chain(address).collect(),
        }
    }
}

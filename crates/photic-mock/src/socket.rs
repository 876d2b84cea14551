//! Responses over WebSocket: frames instead of requests, and state that lives with the connection.
//!
//! Each lane answers one frame at a time; lanes answer side by side. A rejected frame removes the
//! response that it continued from the state, as the real service does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use photic::Wire;
use photic_net::websocket::{
    Connection, Deflate, Kind, Part, Reader, Role, ServerHandshake, Writer,
};
use serde_json::{Value, json};
use tokio::io::{WriteHalf, split};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::envelope::Envelope;
use crate::misbehave::Misbehavior;
use crate::provider::{IncomingRequest, Provider, ReplyOutcome};

/// Largest frame that is read.
const MAX_FRAME: u64 = 600 << 20;
/// Frames of one lane that wait.
const MAX_WAITING: usize = 64;

/// One open socket.
struct Socket {
    provider: Arc<Provider>,
    key: Option<String>,
    misbehave: Vec<Misbehavior>,
    path: String,
    writer: AsyncMutex<Writer<WriteHalf<Connection>>>,
    /// The items of each conversation, by the ID of its last response.
    state: Mutex<HashMap<String, Vec<Value>>>,
    warm: Mutex<u64>,
}

/// Grants a socket. Returns `None` if the handshake is wrong.
pub(crate) fn open(
    provider: Arc<Provider>,
    mut request: Request<Incoming>,
    key: Option<String>,
    misbehave: Vec<Misbehavior>,
) -> Option<Response<()>> {
    let handshake = ServerHandshake::read(request.headers()).ok()?;
    let path = request.uri().path().to_owned();
    let upgrade = hyper::upgrade::on(&mut request);
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let deflate = handshake.grant(response.headers_mut());
    told(response.headers_mut());
    tokio::spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        serve(Connection::new(upgraded), deflate, (provider, key, misbehave, path)).await;
    });
    Some(response)
}

/// Writes headers that clients read.
fn told(headers: &mut HeaderMap) {
    for (name, value) in [
        ("x-codex-turn-state", "mock"),
        ("openai-model", "mock"),
        ("x-reasoning-included", "false"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

async fn serve(
    connection: Connection,
    deflate: Option<Deflate>,
    (provider, key, misbehave, path): (Arc<Provider>, Option<String>, Vec<Misbehavior>, String),
) {
    let (reader, writer) = split(connection);
    let mut reader = Reader::new(reader, Role::Server, deflate, MAX_FRAME);
    let writer = AsyncMutex::new(Writer::new(writer, Role::Server, deflate));
    let socket = Arc::new(Socket {
        provider,
        key,
        misbehave,
        path,
        writer,
        state: Mutex::default(),
        warm: Mutex::default(),
    });
    let mut lanes: HashMap<Option<String>, mpsc::Sender<Value>> = HashMap::new();
    let mut message = BytesMut::new();
    loop {
        let part = match reader.next().await {
            Ok(part) => part,
            Err(error) => {
                if let Some(code) = error.close_code() {
                    let close = photic_net::websocket::Close::new(code, "");
                    let _ = socket.writer.lock().await.close(Some(&close)).await;
                }
                return;
            }
        };
        match part {
            Part::Data { kind: Kind::Text, bytes, is_last } => {
                message.extend_from_slice(&bytes);
                if !is_last {
                    continue;
                }
                let frame: Value =
                    serde_json::from_slice(&std::mem::take(&mut message)).unwrap_or_default();
                let lane = frame["stream_id"].as_str().map(str::to_owned);
                let sender = lanes.entry(lane).or_insert_with(|| {
                    let (sender, mut frames) = mpsc::channel(MAX_WAITING);
                    let socket = Arc::clone(&socket);
                    tokio::spawn(async move {
                        while let Some(frame) = frames.recv().await {
                            Arc::clone(&socket).answer(frame).await;
                        }
                    });
                    sender
                });
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
            Part::Data { .. } | Part::Pong(_) => {}
            Part::Ping(payload) => {
                let _ = socket.writer.lock().await.pong(payload).await;
            }
            Part::Close(close) => {
                let _ = socket.writer.lock().await.close(close.as_ref()).await;
                return;
            }
        }
    }
}

impl Socket {
    fn state(&self) -> MutexGuard<'_, HashMap<String, Vec<Value>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, mut frame: Value, lane: &Value) {
        if lane.is_string() {
            frame["stream_id"] = lane.clone();
        }
        let text = Bytes::from(frame.to_string());
        let _ = self.writer.lock().await.message(Kind::Text, &[text]).await;
        tokio::task::yield_now().await;
    }

    /// Answers a frame.
    async fn answer(self: Arc<Self>, mut frame: Value) {
        let lane = frame["stream_id"].clone();
        if frame["type"] != "response.create" {
            let message = format!("Unknown event type: {}", frame["type"]);
            return self.send(error(400, "unknown_event", &message), &lane).await;
        }
        let previous = frame["previous_response_id"].as_str().map(str::to_owned);
        let before = match &previous {
            None => Vec::new(),
            Some(id) => {
                let found = self.state().get(id).cloned();
                let Some(found) = found else {
                    let says = format!("Previous response with id '{id}' not found.");
                    let no = error(400, "previous_response_not_found", &says);
                    return self.send(no, &lane).await;
                };
                found
            }
        };
        let mut items = before;
        match frame["input"].take() {
            Value::Array(new) => items.extend(new),
            Value::Null => {}
            text => items.push(json!({"type": "message", "role": "user", "content": text})),
        }
        if frame["generate"] == false {
            return self.warm_up(items, &lane).await;
        }
        if let Some(body) = frame.as_object_mut() {
            for own in ["type", "stream_id", "generate", "previous_response_id"] {
                body.shift_remove(own);
            }
        }
        frame["input"] = Value::Array(items.clone());
        frame["stream"] = json!(true);
        frame["store"] = json!(false);
        let (this, body) = (Arc::clone(&self), Bytes::from(frame.to_string()));
        let asked = tokio::task::spawn_blocking(move || {
            this.provider.answer(IncomingRequest {
                wire: Wire::OpenAiResponses,
                envelope: Envelope::Plain,
                count_only: false,
                path: this.path.clone(),
                key: this.key.clone(),
                missing_header: None,
                misbehave: this.misbehave.clone(),
                body: Some(body),
            })
        });
        match asked.await {
            Ok(ReplyOutcome::Events { events, .. }) => {
                for event in events.iter().filter_map(|event| data(event)) {
                    if event["type"] == "response.completed" {
                        let response = &event["response"];
                        items.extend(response["output"].as_array().cloned().unwrap_or_default());
                        let id = response["id"].as_str().unwrap_or_default().to_owned();
                        self.state().insert(id, std::mem::take(&mut items));
                    }
                    self.send(event, &lane).await;
                }
            }
            Ok(ReplyOutcome::Whole { status, body, .. }) => {
                if let Some(id) = previous {
                    self.state().remove(&id);
                }
                let error = json!({"type": "error", "status": status, "error": body["error"]});
                self.send(error, &lane).await;
            }
            Ok(ReplyOutcome::Empty | ReplyOutcome::Hang | ReplyOutcome::Close) | Err(_) => {}
        }
    }

    /// Answers a frame that only prepares the state.
    async fn warm_up(&self, items: Vec<Value>, lane: &Value) {
        let id = {
            let mut warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
            *warm += 1;
            format!("resp_warm{warm}")
        };
        self.state().insert(id.clone(), items);
        for (kind, status) in
            [("response.created", "in_progress"), ("response.completed", "completed")]
        {
            let response = json!({"id": id, "object": "response", "status": status, "output": []});
            self.send(json!({"type": kind, "response": response}), lane).await;
        }
    }
}

/// The data of a server-sent event.
fn data(event: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(event).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("data: "))?;
    serde_json::from_str(line).ok()
}

/// An error frame.
fn error(status: u16, code: &str, message: &str) -> Value {
    let error = json!({"type": "invalid_request_error", "code": code, "message": message});
    json!({"type": "error", "status": status, "error": error})
}

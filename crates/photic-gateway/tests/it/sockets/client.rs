//! A client of a WebSocket, and conversations with the mock.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use photic_mock::{Chart, Mock, Options};
use photic_net::websocket::{
    ClientHandshake, Close, Connection, Deflate, Kind, Part, ReadError, Reader, Role, Writer,
};
use photic_net::{Client, Outgoing, Timeouts};
use photic_testkit::image;
use serde_json::{Value, json};
use tokio::io::{ReadHalf, WriteHalf, split};
use tokio::time::timeout;

/// Time limit that no test should reach.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum size of a message that the client reads.
const LIMIT: u64 = 256 << 20;

/// A socket of a client.
pub(super) struct SocketClient {
    pub(super) reader: Reader<ReadHalf<Connection>>,
    pub(super) writer: Writer<WriteHalf<Connection>>,
    /// The headers of the reply of 101.
    pub(super) headers: HeaderMap,
    pub(super) is_compressed: bool,
}

/// A socket of a client, without a writer.
pub(super) struct SocketHalves {
    pub(super) reader: Reader<ReadHalf<Connection>>,
    pub(super) to: WriteHalf<Connection>,
    headers: HeaderMap,
    pub(super) deflate: Option<Deflate>,
}

/// A message, a control frame, or the end of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    Message(Kind, Bytes),
    Ping(Bytes),
    Pong(Bytes),
    Close(Option<Close>),
    /// The connection ended without a close frame.
    Ended,
}

impl SocketHalves {
    /// Asks for a socket. Returns the status if it is not granted.
    pub(super) async fn ask(
        to: SocketAddr,
        path: &str,
        more: &[(&'static str, &'static str)],
        compress: bool,
    ) -> Result<Self, StatusCode> {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer k"));
        for (name, value) in more {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let handshake = ClientHandshake::ask(&mut headers, compress);
        let mut request = Request::new(Outgoing::empty());
        *request.uri_mut() = format!("http://{to}{path}").parse().unwrap();
        *request.headers_mut() = headers;
        let reply = Client::new(Timeouts::default()).upgrade(request).await.unwrap();
        if reply.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(reply.status());
        }
        let headers = reply.headers().clone();
        let deflate = handshake.granted(&headers).unwrap();
        let (reader, to) = split(Client::upgraded(reply).await.unwrap());
        Ok(Self { reader: Reader::new(reader, Role::Client, deflate, LIMIT), to, headers, deflate })
    }
}

impl SocketClient {
    /// Asks for a socket. Returns the status if it is not granted.
    pub(super) async fn ask(
        to: SocketAddr,
        path: &str,
        more: &[(&'static str, &'static str)],
        compress: bool,
    ) -> Result<Self, StatusCode> {
        let SocketHalves { reader, to, headers, deflate } =
            SocketHalves::ask(to, path, more, compress).await?;
        let writer = Writer::new(to, Role::Client, deflate);
        Ok(Self { reader, writer, headers, is_compressed: deflate.is_some() })
    }

    /// Opens a socket for Responses.
    pub(super) async fn open(to: SocketAddr) -> Self {
        Self::ask(to, "/v1/responses", &[], false).await.unwrap()
    }

    pub(super) async fn send(&mut self, frame: &Value) {
        self.send_text(frame.to_string()).await;
    }

    pub(super) async fn send_text(&mut self, text: String) {
        self.writer.message(Kind::Text, &[text.into()]).await.unwrap();
    }

    /// Waits for the next message or control frame.
    pub(super) async fn next(&mut self) -> Received {
        let next = async {
            let mut message = BytesMut::new();
            loop {
                match self.reader.next().await {
                    Ok(Part::Data { kind, bytes, is_last }) => {
                        message.extend_from_slice(&bytes);
                        if is_last {
                            return Received::Message(kind, message.freeze());
                        }
                    }
                    Ok(Part::Ping(payload)) => return Received::Ping(payload),
                    Ok(Part::Pong(payload)) => return Received::Pong(payload),
                    Ok(Part::Close(close)) => return Received::Close(close),
                    Err(ReadError::Ended | ReadError::Io(_)) => return Received::Ended,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        timeout(TEST_TIMEOUT, next).await.expect("a frame in time")
    }

    /// Waits for the next frame of JSON.
    pub(super) async fn frame(&mut self) -> Value {
        match self.next().await {
            Received::Message(_, bytes) => serde_json::from_slice(&bytes).unwrap(),
            other => panic!("no frame: {other:?}"),
        }
    }

    /// Waits until a response has ended. Returns its last frame.
    pub(super) async fn ended(&mut self) -> Value {
        loop {
            let frame = self.frame().await;
            let kind = frame["type"].as_str().unwrap();
            if matches!(kind, "response.completed" | "response.failed" | "error") {
                return frame;
            }
        }
    }

    /// Sends a frame and waits for the end of its response.
    pub(super) async fn turn(&mut self, frame: &Value) -> Value {
        self.send(frame).await;
        self.ended().await
    }
}

/// Starts a provider. It has its own runtime, which cannot be started inside another.
pub(super) fn mock(options: Options) -> Mock {
    std::thread::spawn(|| Mock::start(options).unwrap()).join().unwrap()
}

/// Returns a frame that begins a response, with these members beside the model.
pub(super) fn create(members: Value) -> Value {
    let mut frame = json!({"type": "response.create", "model": "house-model", "stream": true});
    let Value::Object(members) = members else { panic!("members of a frame") };
    frame.as_object_mut().unwrap().extend(members);
    frame
}

/// Returns a chart as a part of a message.
pub(super) fn chart(seed: u64) -> Value {
    picture(&Chart::of(seed).png().unwrap())
}

/// Returns a PNG as a part of a message.
pub(super) fn picture(png: &[u8]) -> Value {
    json!({"type": "input_image", "image_url": image::data_url("image/png", png), "detail": "auto"})
}

pub(super) fn user(content: Value) -> Value {
    let mut message = json!({"type": "message", "role": "user"});
    message["content"] = content;
    message
}

/// Returns the text of a model that saw only this chart.
pub(super) fn named(seed: u64) -> String {
    format!("image 1: {}", Chart::of(seed).words())
}

/// Returns the text that a response ended with.
pub(super) fn said(ended: &Value) -> &str {
    let text = &ended["response"]["output"][0]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("{ended}"))
}

/// Returns the id of a response.
pub(super) fn id(ended: &Value) -> Value {
    ended["response"]["id"].clone()
}

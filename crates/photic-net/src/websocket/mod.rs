//! The WebSocket protocol (RFC 6455) with `permessage-deflate` (RFC 7692), over a connection that was upgraded.
//!
//! [`Reader`] and [`Writer`] are the two directions of one side of a connection. The reader returns a
//! message in [parts](Part) as it arrives, so that its receiver can bound and account the memory. No
//! message, compressed or not, becomes larger than the limit of the reader.
//!
//! ```
//! use bytes::Bytes;
//! use photic_net::websocket::{Kind, Part, Reader, Role, Writer};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let (near, far) = tokio::io::duplex(1024);
//! let mut writer = Writer::new(near, Role::Client, None);
//! writer.message(Kind::Text, &[Bytes::from("hello")]).await.unwrap();
//! let mut reader = Reader::new(far, Role::Server, None, 1 << 20);
//! let expected = Part::Data { kind: Kind::Text, bytes: Bytes::from("hello"), is_last: true };
//! assert_eq!(reader.next().await.unwrap(), expected);
//! # });
//! ```
//!
//! Headers of frames and close codes are those of `tungstenite`, which has no compression.

mod deflate;
mod frame;
mod handshake;
mod mask;
mod reader;
mod utf8;
mod writer;

pub use deflate::Deflate;
pub use frame::{Close, Kind, Part, ReadError, Role};
pub use handshake::{BadHandshake, ClientHandshake, ServerHandshake, remove_headers};
pub use reader::Reader;
pub use writer::Writer;

/// An upgraded connection.
pub type Connection = hyper_util::rt::TokioIo<hyper::upgrade::Upgraded>;

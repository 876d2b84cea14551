//! Any bytes on a WebSocket, in any pieces, compressed or not: no panic, no message over the limit, and
//! the same messages however the bytes are cut.
#![no_main]

use std::pin::Pin;
use std::task::{Context, Poll};

use libfuzzer_sys::fuzz_target;
use photic_net::websocket::{ClientHandshake, Deflate, Kind, Part, Reader, Role, ServerHandshake};
use tokio::io::{AsyncRead, ReadBuf};

const LIMIT: u64 = 64 << 10;

/// Bytes that come a few at a time.
struct Pieces<'b> {
    bytes: &'b [u8],
    size: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let (now, rest) = this.bytes.split_at(this.size.min(this.bytes.len()));
        buffer.put_slice(now);
        this.bytes = rest;
        Poll::Ready(Ok(()))
    }
}

/// Everything that was read: messages and control frames, and the code of the error at the end.
type Read = (Vec<(Option<Kind>, Vec<u8>)>, Option<u16>);

async fn read(bytes: &[u8], role: Role, deflate: Option<Deflate>, size: usize) -> Read {
    let mut reader = Reader::new(Pieces { bytes, size }, role, deflate, LIMIT);
    let (mut all, mut message) = (Vec::new(), Vec::new());
    loop {
        match reader.next().await {
            Err(error) => return (all, error.close_code()),
            Ok(Part::Data { kind, bytes, is_last }) => {
                message.extend_from_slice(&bytes);
                assert!(message.len() as u64 <= LIMIT);
                if is_last {
                    assert!(kind == Kind::Binary || std::str::from_utf8(&message).is_ok());
                    all.push((Some(kind), std::mem::take(&mut message)));
                }
            }
            Ok(Part::Ping(payload) | Part::Pong(payload)) => {
                assert!(payload.len() <= 125);
                all.push((None, payload.to_vec()));
            }
            Ok(Part::Close(close)) => {
                all.push((None, close.map_or_else(String::new, |it| it.reason).into_bytes()));
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&first, bytes)) = input.split_first() else { return };
    let role = if first & 1 == 0 { Role::Client } else { Role::Server };
    let (mut asked, mut granted) = (http::HeaderMap::new(), http::HeaderMap::new());
    let client = ClientHandshake::ask(&mut asked, first & 2 != 0);
    let server = ServerHandshake::read(&asked).unwrap().grant(&mut granted);
    let client = client.granted(&granted).unwrap();
    let deflate = if role == Role::Client { client } else { server };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let whole = read(bytes, role, deflate, usize::MAX).await;
        let pieces = read(bytes, role, deflate, usize::from(first >> 2) + 1).await;
        assert_eq!(whole, pieces);
    });
});

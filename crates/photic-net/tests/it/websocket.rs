//! Messages of WebSockets: what is written is read, however it is cut, and what breaks the rules is not.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use photic_net::websocket::{
    ClientHandshake, Close, Deflate, Kind, Part, ReadError, Reader, Role, ServerHandshake, Writer,
};
use tokio::io::{AsyncRead, ReadBuf};

/// Returns the parameters of both sides: client, server.
fn compressed() -> (Option<Deflate>, Option<Deflate>) {
    let (mut asked, mut granted) = (HeaderMap::new(), HeaderMap::new());
    let client = ClientHandshake::ask(&mut asked, true);
    let server = ServerHandshake::read(&asked).unwrap().grant(&mut granted);
    (client.granted(&granted).unwrap(), server)
}

/// Bytes that arrive in pieces of changing sizes.
struct Cut {
    bytes: Bytes,
    sizes: u32,
}

impl AsyncRead for Cut {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        this.sizes = this.sizes.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if this.sizes >> 30 == 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let size = match this.sizes >> 24 & 3 {
            0 => 1,
            1 => 7,
            2 => 100,
            _ => 5000,
        };
        let size = size.min(this.bytes.len()).min(buffer.remaining());
        buffer.put_slice(&this.bytes.split_to(size));
        Poll::Ready(Ok(()))
    }
}

/// Reads everything: messages, control frames, and the error at the end.
async fn read_all(
    bytes: Bytes,
    role: Role,
    deflate: Option<Deflate>,
    limit: u64,
    sizes: u32,
) -> (Vec<(Option<Kind>, Bytes)>, ReadError) {
    let mut reader = Reader::new(Cut { bytes, sizes }, role, deflate, limit);
    let (mut all, mut message) = (Vec::new(), BytesMut::new());
    loop {
        match reader.next().await {
            Err(error) => return (all, error),
            Ok(Part::Data { kind, bytes, is_last }) => {
                message.extend_from_slice(&bytes);
                if is_last {
                    all.push((Some(kind), message.split().freeze()));
                }
            }
            Ok(Part::Ping(payload) | Part::Pong(payload)) => all.push((None, payload)),
            Ok(Part::Close(close)) => {
                all.push((None, close.map_or_else(Bytes::new, |close| close.reason.into())));
            }
        }
    }
}

/// Texts of many sizes, which compress well and badly.
fn texts() -> Vec<Bytes> {
    let mut state = 7_u32;
    let mut noise = |length: usize| -> Bytes {
        let letters = (0..length).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b' ' + (state >> 24) as u8 % 90
        });
        letters.collect::<Vec<u8>>().into()
    };
    let sizes = [0, 1, 63, 64, 125, 126, 127, 1000, 65_535, 65_536, 200_000, (1 << 20) + 3];
    let plain = sizes.iter().map(|size| Bytes::from("grün ".repeat(size / 6)));
    plain.chain(sizes.iter().map(|size| noise(*size))).collect()
}

#[tokio::test]
async fn what_is_written_is_read_however_it_is_cut() {
    for role in [Role::Client, Role::Server] {
        for deflate in [(None, None), compressed()] {
            let (own, other) = match role {
                Role::Client => (deflate.0, (Role::Server, deflate.1)),
                Role::Server => (deflate.1, (Role::Client, deflate.0)),
            };
            let mut written = Vec::new();
            let mut writer = Writer::new(&mut written, role, own);
            for text in texts() {
                let middle = text.len() / 2;
                let pieces = [text.slice(..middle), text.slice(middle..)];
                writer.message(Kind::Binary, &pieces).await.unwrap();
                writer.ping(text.slice(..text.len().min(125))).await.unwrap();
            }
            writer.close(Some(&Close::new(1000, "end"))).await.unwrap();
            let written = Bytes::from(written);
            for sizes in 0..3 {
                let (all, end) = read_all(written.clone(), other.0, other.1, 2 << 20, sizes).await;
                assert!(matches!(end, ReadError::Ended), "{end}");
                let mut all = all.into_iter();
                for text in texts() {
                    assert!(
                        all.next() == Some((Some(Kind::Binary), text.clone())),
                        "{}",
                        text.len()
                    );
                    let ping = text.slice(..text.len().min(125));
                    assert_eq!(all.next(), Some((None, ping)));
                }
                assert_eq!(all.next(), Some((None, "end".into())));
            }
        }
    }
}

/// Returns a frame of a server, with this first byte.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[first, length], payload].concat()
}

#[tokio::test]
async fn a_message_in_many_frames_is_one_with_pings_in_between() {
    let bytes = [
        frame(0x01, b"gr\xc3"),
        frame(0x89, b"ping"),
        frame(0x00, b"\xbc"),
        frame(0x00, b""),
        frame(0x80, b"n"),
    ];
    let (all, end) = read_all(bytes.concat().into(), Role::Client, None, 100, 0).await;
    assert_eq!(all, [(None, "ping".into()), (Some(Kind::Text), "grün".into())]);
    assert!(matches!(end, ReadError::Ended));
}

#[tokio::test]
async fn what_breaks_the_rules_is_an_error_with_its_code() {
    let long = [&[0x81, 126, 0, 101], [b' '; 101].as_slice()].concat();
    let endless = [&[0x81, 127][..], &[0xff; 8]].concat();
    for (what, bytes, code) in [
        ("continuation of nothing", frame(0x80, b"x"), 1002),
        ("a message within another", [frame(0x01, b"x"), frame(0x81, b"y")].concat(), 1002),
        ("reserved bit", frame(0xc1, b"x"), 1002),
        ("reserved opcode", frame(0x83, b"x"), 1002),
        ("a ping in two frames", frame(0x09, b"x"), 1002),
        ("a long ping", [&[0x89, 126, 0, 126][..], &[0; 126]].concat(), 1002),
        ("a masked frame of a server", vec![0x81, 0x81, 0, 0, 0, 0, b'x'], 1002),
        ("a close with half a code", frame(0x88, b"x"), 1002),
        ("a text that is not UTF-8", frame(0x81, b"\xff"), 1007),
        ("a text that ends within a character", frame(0x81, b"\xc3"), 1007),
        ("a long message", long, 1009),
        ("a message without an end", endless, 1009),
    ] {
        let (all, end) = read_all(bytes.into(), Role::Client, None, 100, 0).await;
        assert!(all.is_empty(), "{what}: {all:?}");
        assert_eq!(end.close_code(), Some(code), "{what}: {end}");
    }
}

/// Ten kilobytes that would become a megabyte are not decompressed further than the limit.
#[tokio::test]
async fn a_bomb_is_refused_within_the_limit() {
    let (client, server) = compressed();
    let mut written = Vec::new();
    let zeros = Bytes::from(vec![b'0'; (1 << 20) - 1]);
    Writer::new(&mut written, Role::Server, server)
        .message(Kind::Text, std::slice::from_ref(&zeros))
        .await
        .unwrap();
    assert!(written.len() < 16 << 10, "{} bytes", written.len());
    let limit = 100 << 10;
    let (all, end) = read_all(written.clone().into(), Role::Client, client, limit, 0).await;
    assert!(all.is_empty());
    assert!(matches!(end, ReadError::TooLarge { limit: found } if found == limit), "{end}");
    let (all, _) = read_all(written.into(), Role::Client, client, 1 << 20, 0).await;
    assert_eq!(all, [(Some(Kind::Text), zeros)]);
}

/// `tungstenite` reads what the writer writes, and the other way round.
#[tokio::test]
async fn another_implementation_agrees() {
    use std::io::Cursor;
    use tungstenite::protocol::{Message, Role as Theirs, WebSocket};
    let text = "grün ".repeat(30_000);
    let mut written = Vec::new();
    let mut writer = Writer::new(&mut written, Role::Client, None);
    writer.message(Kind::Text, &[text.clone().into()]).await.unwrap();
    writer.ping("p".into()).await.unwrap();
    let mut theirs = WebSocket::from_raw_socket(Cursor::new(written), Theirs::Server, None);
    assert_eq!(theirs.read().unwrap(), Message::text(text.clone()));
    assert_eq!(theirs.read().unwrap(), Message::Ping("p".into()));
    let mut theirs = WebSocket::from_raw_socket(Cursor::new(Vec::new()), Theirs::Client, None);
    theirs.send(Message::text(text.clone())).unwrap();
    let bytes = theirs.get_ref().get_ref().clone();
    let (all, _) = read_all(bytes.into(), Role::Server, None, 1 << 20, 1).await;
    assert_eq!(all, [(Some(Kind::Text), text.into())]);
}

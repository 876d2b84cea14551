//! Rejections are read whole, as far as they are short.

use std::future::poll_fn;

use bytes::{Bytes, BytesMut};
use http::Response;

use crate::http::Stream;

/// Longer than any rejection with words in it that were meant to be read.
const MAX_REJECTION: usize = 256 << 10;

/// Reads a reply. It can still be passed on, whatever came of it; its text is there only if all of
/// it is.
pub(super) async fn read(reply: Response<Stream>) -> (Response<Stream>, Option<String>) {
    let (parts, mut stream) = reply.into_parts();
    let mut read = BytesMut::new();
    let mut complete = false;
    while read.len() <= MAX_REJECTION {
        match poll_fn(|context| stream.poll(context)).await {
            None => {
                complete = true;
                break;
            }
            Some(Err(_)) => break,
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    read.extend_from_slice(&data);
                }
            }
        }
    }
    let read: Bytes = read.freeze();
    let text = complete.then(|| String::from_utf8_lossy(&read).into_owned());
    stream.put_back(read);
    (Response::from_parts(parts, stream), text)
}

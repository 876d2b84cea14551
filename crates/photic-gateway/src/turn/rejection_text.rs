//! Reads the text of a rejection, up to a maximum length.

use std::future::poll_fn;

use bytes::{Bytes, BytesMut};
use http::Response;

use crate::http::Stream;

/// Maximum bytes of a rejection that is read. Longer ones are not meant for readers.
const MAX_REJECTION: usize = 256 << 10;

/// Reads a reply. Returns the reply, which can still be passed on, and its text if it is complete. A
/// reply that broke off does so again for the client.
pub(super) async fn read(reply: Response<Stream>) -> (Response<Stream>, Option<String>) {
    let (parts, mut stream) = reply.into_parts();
    let mut read = BytesMut::new();
    let (mut complete, mut failure) = (false, None);
    while read.len() <= MAX_REJECTION {
        match poll_fn(|context| stream.poll(context)).await {
            None => {
                complete = true;
                break;
            }
            Some(Err(broken)) => {
                failure = Some(broken);
                break;
            }
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    read.extend_from_slice(&data);
                }
            }
        }
    }
    let read: Bytes = read.freeze();
    let text = complete.then(|| String::from_utf8_lossy(&read).into_owned());
    stream.put_back(read, failure);
    (Response::from_parts(parts, stream), text)
}

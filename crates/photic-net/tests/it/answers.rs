//! Replies of servers: too large, too slow, of another type.

use std::time::{Duration, Instant};

use photic_net::fetch::{Blame, Refusal};

use crate::server::{ServerAction, reply, serve};
use crate::{fetch, picture};

async fn answered(acts: Vec<ServerAction>) -> Result<Vec<u8>, Refusal> {
    let (server, _) = serve(move |_| acts.clone()).await;
    fetch(server).get(&format!("http://{server}/")).await
}

fn head(headers: &str) -> ServerAction {
    ServerAction::Send(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes())
}

#[tokio::test]
async fn a_picture_comes_whole_however_it_is_sent() {
    let expected = Ok(picture(99_999));
    assert_eq!(answered(reply("200 OK", "", &picture(99_999))).await, expected);
    // The body ends with the connection.
    assert_eq!(answered(vec![head(""), ServerAction::Send(picture(99_999))]).await, expected);
    // In chunks. The stated type is ignored.
    let chunks: Vec<u8> = picture(99_999)
        .chunks(1000)
        .flat_map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat())
        .chain(*b"0\r\n\r\n")
        .collect();
    let headers = "transfer-encoding: chunked\r\ncontent-type: text/html\r\n";
    assert_eq!(answered(vec![head(headers), ServerAction::Send(chunks)]).await, expected);
}

#[tokio::test]
async fn more_than_allowed() {
    assert_eq!(answered(reply("200 OK", "", &picture(100_000))).await, Ok(picture(100_000)));
    assert_eq!(answered(reply("200 OK", "", &picture(100_001))).await, Err(Refusal::TooLarge));
    // Said beforehand: not a byte is waited for.
    let said = answered(vec![head("content-length: 9000000000\r\n"), ServerAction::Hang]).await;
    assert_eq!(said, Err(Refusal::TooLarge));
    // Never said, and without an end.
    assert_eq!(
        answered(vec![head(""), ServerAction::Send(picture(600)), ServerAction::Flood]).await,
        Err(Refusal::TooLarge)
    );
}

#[tokio::test]
async fn something_else() {
    let page = b"<!doctype html><html>internal page of somebody</html>";
    let refused = answered(reply("200 OK", "content-type: image/png\r\n", page)).await.unwrap_err();
    assert_eq!((refused, refused.blame()), (Refusal::WrongKind, Blame::Content));
    assert!(!format!("{refused} {refused:?}").contains("internal"));
    assert_eq!(answered(reply("200 OK", "", b"")).await, Err(Refusal::WrongKind));
    // Seen from its beginning: the rest is not waited for.
    let endless =
        answered(vec![head(""), ServerAction::Send(vec![b'x'; 600]), ServerAction::Hang]).await;
    assert_eq!(endless, Err(Refusal::WrongKind));
}

#[tokio::test]
async fn another_status_says_its_number_and_nothing_else() {
    for (status, number) in [("404 Not Found", 404), ("500 Oops", 500), ("206 Partial", 206)] {
        let refused = answered(reply(status, "", &picture(600))).await;
        assert_eq!(refused, Err(Refusal::Status(number)));
    }
}

#[tokio::test]
async fn compressed_although_not_asked_for() {
    for encoding in ["gzip", "br", "deflate, gzip", "zstd"] {
        let headers = format!("content-encoding: {encoding}\r\n");
        let refused = answered(reply("200 OK", &headers, &picture(600))).await;
        assert_eq!(refused, Err(Refusal::Encoded), "{encoding}");
    }
    let plain = answered(reply("200 OK", "content-encoding: identity\r\n", &picture(600))).await;
    assert_eq!(plain, Ok(picture(600)));
}

#[tokio::test]
async fn slow_servers_have_one_deadline_for_everything() {
    let head = head("content-length: 90000\r\n");
    for acts in [
        vec![ServerAction::Hang],
        vec![ServerAction::Send(b"HTTP/1.1 200 OK\r\nx: ".to_vec()), ServerAction::Trickle],
        vec![head.clone(), ServerAction::Send(picture(600)), ServerAction::Trickle],
        vec![head, ServerAction::Send(picture(10)), ServerAction::Hang],
    ] {
        let begun = Instant::now();
        assert_eq!(answered(acts).await, Err(Refusal::Timeout));
        let took = begun.elapsed();
        assert!((2900..60_000).contains(&took.as_millis()), "{took:?}");
    }
}

#[tokio::test]
async fn what_breaks_off_or_is_no_http() {
    let head = head("content-length: 90000\r\n");
    for acts in [
        vec![],
        vec![ServerAction::Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())],
        vec![ServerAction::Send(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec())],
        vec![head, ServerAction::Send(picture(600))],
        vec![ServerAction::Send([b"HTTP/1.1 200 OK\r\nx: ".as_slice(), &[b'y'; 200_000]].concat())],
    ] {
        let refused = answered(acts).await;
        assert_eq!(refused, Err(Refusal::BrokeOff));
    }
}

#[tokio::test]
async fn nobody_there_and_no_trust() {
    let (server, _) = serve(|_| reply("200 OK", "", &picture(600))).await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = fetch(gone).get(&format!("http://{gone}/")).await;
    assert_eq!(nobody, Err(Refusal::Unreachable));
    // A server of plain HTTP is no server of HTTPS.
    let plain = fetch(server).get(&format!("https://{server}/")).await;
    assert!(matches!(plain, Err(Refusal::Unreachable | Refusal::Timeout)), "{plain:?}");
}

#[tokio::test]
async fn to_stop_waiting_is_to_hang_up() {
    let (server, _) = serve(|_| vec![ServerAction::Hang]).await;
    let fetch = fetch(server);
    let address = format!("http://{server}/");
    let waited = tokio::time::timeout(Duration::from_millis(300), fetch.get(&address)).await;
    assert!(waited.is_err());
    // No task is left running.
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 2);
}

//! A gateway that distinguishes foreign media from unknown ones is detected.

use std::net::SocketAddr;

use photic_fleet_test::check::{Findings, foreign};
use photic_fleet_test::journal::Line;
use photic_fleet_test::tenants::Tenant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const PICTURE: &[u8] = b"a picture";
const NONE: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno";

/// Starts a server that answers the owner of `mr_abcdefgh` correctly, and others with `others`.
async fn connection(others: fn(&str) -> String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut request).await {
                    let text = String::from_utf8_lossy(&request[..read]).into_owned();
                    let owns = text.contains("x-photic-key: pk_one");
                    let answer = match text.contains("mr_abcdefgh") {
                        true if owns => format!(
                            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}",
                            PICTURE.len(),
                            String::from_utf8_lossy(PICTURE)
                        ),
                        true => others(&text),
                        false => NONE.to_owned(),
                    };
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    address
}

async fn asked(others: fn(&str) -> String) -> Findings {
    let tenant = |name: &str| Tenant {
        name: name.to_owned(),
        key: Some(format!("pk_{name}")),
        provider_key: "sk".to_owned(),
    };
    let upload = Line::Upload {
        tenant: "one".to_owned(),
        reference: "mr_abcdefgh".to_owned(),
        picture: blake3::hash(PICTURE).to_hex().to_string(),
    };
    foreign(connection(others).await, &[tenant("one"), tenant("two")], &[upload]).await
}

#[tokio::test]
async fn who_answers_alike_passes() {
    let found = asked(|_| NONE.to_owned()).await;
    assert_eq!((found.foreign, found.complained), (5, 0), "{found:?}");
}

#[tokio::test]
async fn whoever_cannot_read_its_own_complains() {
    let found = asked(|_| NONE.to_owned()).await;
    assert_eq!(found.complaints, [] as [String; 0]);
    let lost = Line::Upload {
        tenant: "two".to_owned(),
        reference: "mr_stuvwxyz".to_owned(),
        picture: "0".repeat(64),
    };
    let tenant = Tenant {
        name: "two".to_owned(),
        key: Some("pk_two".to_owned()),
        provider_key: "sk".to_owned(),
    };
    let found = foreign(connection(|_| NONE.to_owned()).await, &[tenant], &[lost]).await;
    assert_eq!(found.complained, 1, "{found:?}");
}

#[tokio::test]
async fn who_answers_with_another_status_text_or_header_is_found_out() {
    let others: [fn(&str) -> String; 4] = [
        |_| NONE.replace("404 Not Found", "403 Forbidden"),
        |_| NONE.replace("no", "oh"),
        |_| NONE.replace("content", "x-hint: 1\r\ncontent"),
        // Only where it is shown to a model.
        |text| NONE.replace("no", if text.contains("/v1/chat") { "oh" } else { "no" }),
    ];
    for (number, others) in others.into_iter().enumerate() {
        assert!(asked(others).await.complained > 0, "{number}");
    }
}

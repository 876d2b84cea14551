//! The cases in which a request is sent again, and the replies that the client gets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use photic_mock::{Misbehavior, Mock, Options};
use photic_testkit::image;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::caller::{Reply, exchange, post, read_until};
use crate::healing::{LessonsFile, Wire, chart};
use crate::poisoned::{KEYS, Recorded, ask};
use crate::scripted::{Act, Upstream, chunk, chunked, ok};
use crate::{gateway, started};

use Wire::{Chat, Messages, Responses};

/// Returns a rejection with a header that identifies it.
fn rejection(status: &str, body: &str) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-request-id: r1\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    vec![Act::Send([head.as_bytes(), body.as_bytes()].concat())]
}

fn error(message: &str) -> String {
    json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string()
}

/// Starts an upstream that gives each request the next of these answers, and repeats the last.
async fn answering(
    kept: &LessonsFile,
    answers: Vec<Vec<Act>>,
) -> (std::net::SocketAddr, Arc<Upstream>) {
    let count = AtomicUsize::new(0);
    let script = move |_: &_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        answers[number.min(answers.len() - 1)].clone()
    };
    let (address, upstream) = Upstream::start(script).await;
    (gateway(address, &kept.settings()).await, upstream)
}

fn noise(wire: Wire) -> Value {
    wire.shows(&[wire.image("image/png", &image::png_noise(400, 400, 1))])
}

#[tokio::test]
async fn it_is_sent_again_twice_and_no_more() {
    let kept = LessonsFile::new("twice");
    let answers =
        (1..=4).map(|n| rejection("400 Bad Request", &error(&format!("image too large {n}"))));
    let (gateway, upstream) = answering(&kept, answers.collect()).await;
    let reply = ask(gateway, Chat.path(), &noise(Chat)).await;
    let lengths: Vec<usize> = upstream.seen.lock().unwrap().iter().map(|s| s.body.len()).collect();
    assert_eq!(lengths.len(), 3, "{lengths:?}");
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
    // The client gets the rejection of its original request, unchanged.
    assert_eq!((reply.status, reply.header("x-request-id")), (400, Some("r1")));
    assert_eq!(reply.body, error("image too large 1").into_bytes());
    assert_eq!(reply.header("x-photic-healed"), None);
    // Lessons that did not help are not remembered.
    assert!(kept.lessons().is_empty());
}

#[tokio::test]
async fn what_is_not_about_media_passes_as_it_is() {
    let long = error(&"x".repeat(300 << 10));
    for (status, body) in [
        ("400 Bad Request", error("max_tokens is too large: 99999. At most 4096.")),
        ("401 Unauthorized", error("image too large")),
        ("404 Not Found", error("The model `house-model` does not exist.")),
        ("429 Too Many Requests", error("too many images")),
        ("500 Internal Server Error", error("The server had an error.")),
        ("503 Service Unavailable", "<html>no</html>".to_owned()),
        ("413 Payload Too Large", long),
    ] {
        let kept = LessonsFile::new(&format!("verbatim-{}", &status[..3]));
        let (gateway, upstream) = answering(&kept, vec![rejection(status, &body)]).await;
        let reply = ask(gateway, Chat.path(), &noise(Chat)).await;
        assert!(status.starts_with(&reply.status.to_string()));
        assert!(reply.body == body.as_bytes() && reply.complete, "{status}");
        assert_eq!(reply.header("x-request-id"), Some("r1"));
        assert_eq!(upstream.seen.lock().unwrap().len(), 1, "{status}");
        assert!(kept.lessons().is_empty());
    }
}

#[tokio::test]
async fn a_rejection_that_breaks_off_does_not_end_as_a_whole_one() {
    let kept = LessonsFile::new("broken-off");
    let head = b"HTTP/1.1 400 Bad Request\r\ntransfer-encoding: chunked\r\n\r\n";
    let begun = [head.as_slice(), &chunk("{\"error\":")].concat();
    let (gateway, upstream) = answering(&kept, vec![vec![Act::Send(begun), Act::Close]]).await;
    let reply = ask(gateway, Chat.path(), &noise(Chat)).await;
    assert_eq!((reply.status, reply.complete), (400, false));
    assert_eq!(reply.body, b"{\"error\":");
    assert_eq!(upstream.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_request_without_media_is_sent_once() {
    let kept = LessonsFile::new("no-media");
    let body = error("image too large");
    let no = rejection("400 Bad Request", &body);
    let (address, upstream) = Upstream::start(move |_| no.clone()).await;
    // With upstreams by model, a body is read even if the request is passed through unchanged.
    let by_model = format!("[[upstream]]\nurl = 'http://{address}'\nmodels = ['house*']");
    let gateway = started(&format!("{}\n{by_model}", kept.settings())).await;
    let words = Chat.shows(&[json!({"type": "text", "text": "hi"})]);
    let reply = ask(gateway, Chat.path(), &words).await;
    assert_eq!((reply.status, reply.body), (400, body.into_bytes()));
    // A request with `x-photic-off` is sent once, too.
    let request = noise(Chat).to_string();
    let off = format!("{KEYS}x-photic-off: 1\r\n");
    let reply = exchange(gateway, &post(Chat.path(), &off, request.as_bytes())).await;
    assert_eq!(reply.status, 400);
    assert_eq!(upstream.last().body, request.as_bytes());
    assert_eq!(upstream.seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn the_rejection_of_a_request_without_media_is_not_waited_for() {
    let kept = LessonsFile::new("not-read");
    let (sign, body) = (Arc::new(Notify::new()), error("too many images"));
    let head = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer = vec![
        Act::Send(head.into_bytes()),
        Act::Send(body.as_bytes()[..10].to_vec()),
        Act::Wait(Arc::clone(&sign)),
        Act::Send(body.as_bytes()[10..].to_vec()),
    ];
    let (gateway, upstream) = answering(&kept, vec![answer]).await;
    let words = Chat.shows(&[json!({"type": "text", "text": "hi"})]);
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(&post(Chat.path(), KEYS, words.to_string().as_bytes())).await.unwrap();
    read_until(&mut stream, &body[..10]).await;
    sign.notify_one();
    read_until(&mut stream, &body[10..]).await;
    assert_eq!(upstream.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_picture_that_we_made_and_they_refuse_is_withheld() {
    let kept = LessonsFile::new("made");
    let no = error("Invalid 'messages[0].content[0].image_url'. Could not process image");
    let answers = vec![rejection("400 Bad Request", &no), vec![Act::Send(ok(b"{}"))]];
    let (gateway, upstream) = answering(&kept, answers).await;
    let bmp = Chat.image("image/bmp", &image::bmp(24, 24, [200, 30, 60]));
    let body = Chat.shows(&[bmp, chart(Chat, 1)]);
    for requests in [2, 3] {
        let reply = ask(gateway, Chat.path(), &body).await;
        assert_eq!((reply.status, upstream.seen.lock().unwrap().len()), (200, requests));
    }
    let sent = |at: usize| {
        let body = upstream.seen.lock().unwrap()[at].body.clone();
        String::from_utf8(body).unwrap().matches("data:image/").count()
    };
    assert_eq!([sent(0), sent(1), sent(2)], [2, 1, 1]);
}

#[tokio::test]
async fn nothing_is_sent_again_once_a_reply_began() {
    let kept = LessonsFile::new("began");
    let event = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
                 \"message\":\"messages.0.content.0.image.source.base64.data: Could not process image\"}}\n\n";
    let begun = vec![Act::Send(chunked("text/event-stream")), Act::Send(chunk(event)), Act::Close];
    let (gateway, upstream) = answering(&kept, vec![begun]).await;
    let reply = ask(gateway, Messages.path(), &noise(Messages)).await;
    assert_eq!((reply.status, reply.complete), (200, false));
    assert_eq!(reply.body, event.as_bytes());
    assert_eq!(upstream.seen.lock().unwrap().len(), 1);
    assert!(kept.lessons().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_no_rejection_ends_the_attempts() {
    let first = || rejection("400 Bad Request", &error("image too large"));
    for (status, body) in [
        ("429 Too Many Requests", error("Rate limit reached.")),
        ("400 Bad Request", error("max_tokens is too large: 99999. At most 4096.")),
    ] {
        let kept = LessonsFile::new(&format!("other-{}", &status[..3]));
        let answers = vec![first(), rejection(status, &body)];
        let (gateway, upstream) = answering(&kept, answers).await;
        let reply = ask(gateway, Chat.path(), &noise(Chat)).await;
        assert!(status.starts_with(&reply.status.to_string()));
        assert_eq!(reply.body, body.as_bytes());
        assert_eq!(upstream.seen.lock().unwrap().len(), 2);
        // It is not known if the lesson helped.
        assert!(kept.lessons().is_empty());
    }
}

#[tokio::test]
async fn the_same_request_is_not_sent_twice() {
    let kept = LessonsFile::new("same");
    // Nothing can be changed: the only image is in a user message already.
    let body = error(
        "Image URLs are only allowed for messages with role 'user', but this message with role \
         'tool' contains an image URL.",
    );
    let (gateway, upstream) = answering(&kept, vec![rejection("400 Bad Request", &body)]).await;
    let reply = ask(gateway, Chat.path(), &noise(Chat)).await;
    assert_eq!((reply.status, reply.body), (400, body.into_bytes()));
    assert_eq!(upstream.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn tool_images_move_to_the_user_where_results_hold_none() {
    let kept = LessonsFile::new("results");
    let no = error(
        "Invalid 'input[2]'. Image URLs are only allowed for messages with role 'user', but this \
         message with role 'tool' contains an image URL.",
    );
    let answers = vec![rejection("400 Bad Request", &no), vec![Act::Send(ok(b"{\"output\":[]}"))]];
    let (gateway, upstream) = answering(&kept, answers).await;
    let body = Responses.returned(&[chart(Responses, 1)]);
    let headers = format!("{KEYS}accept-encoding: gzip, br\r\n");
    let request = post(Responses.path(), &headers, body.to_string().as_bytes());
    let reply = exchange(gateway, &request).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("hoisted=1"));
    assert_eq!(reply.header("x-photic-healed"), Some("role_not_allowed"));
    assert_eq!(kept.lessons(), ["images are not accepted in tool results"]);
    let sent: Value = serde_json::from_slice(&upstream.last().body).unwrap();
    assert_eq!(sent["input"][3]["role"], "user");
    // No compression is asked for if a rejection may have to be read.
    let seen = upstream.seen.lock().unwrap().clone();
    assert!(seen.iter().all(|seen| seen.head.contains("accept-encoding: identity\r\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn healing_crosses_wires() {
    let kept = LessonsFile::new("crossing");
    let options = Options { judge_as: Some("gpt-3.5-turbo".to_owned()), ..Options::default() };
    let recorded = Recorded::start(options).await;
    let settings = format!(
        "{}\n[[upstream]]\nurl = 'http://{}'\nwire = 'openai-chat'\nmodels = ['house*']",
        kept.settings(),
        recorded.address
    );
    let gateway = started(&settings).await;
    let body = Messages.returned(&[chart(Messages, 1)]);
    let reply = ask(gateway, Messages.path(), &body).await;
    assert_eq!((reply.status, &reply.json()["type"]), (200, &json!("message")));
    assert_eq!(recorded.taken().len(), 2);
    assert_eq!(kept.lessons(), ["images are not accepted at all"]);
    // A rejection that cannot be healed is translated to the client's wire.
    let kept = LessonsFile::new("crossing-no");
    let no = rejection("400 Bad Request", &error("image too large"));
    let (upstream, _) = Upstream::start(move |_| no.clone()).await;
    let settings = format!(
        "{}\n[[upstream]]\nurl = 'http://{upstream}'\nwire = 'openai-chat'\nmodels = ['house*']",
        kept.settings(),
    );
    let reply = ask(started(&settings).await, Messages.path(), &body).await;
    assert_eq!((reply.status, &reply.json()["type"]), (400, &json!("error")));
    assert_eq!(reply.json()["error"]["message"], "image too large");
}

/// Waits for lessons that are written after a reply.
async fn learned(kept: &LessonsFile) -> Vec<String> {
    for _ in 0..100 {
        if kept.file().exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    kept.lessons()
}

fn fixed(reply: &Reply) -> &str {
    reply.header("x-photic-fixed").unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_are_billed_as_text_are_noticed_and_moved() {
    for (wire, stream, in_tool) in [
        (Messages, false, true),
        (Messages, true, true),
        (Responses, true, true),
        (Responses, false, true),
        (Chat, false, false),
    ] {
        let name = format!("{wire:?}, stream {stream}");
        let kept = LessonsFile::new(&format!("billed-{wire:?}-{stream}"));
        let misbehave = vec![Misbehavior::BillAsText];
        let options = Options { misbehave, ..Options::default() };
        let mock = std::thread::spawn(|| Mock::start(options).unwrap()).join().unwrap();
        let gateway = gateway(mock.address(), &kept.settings()).await;
        let picture = wire.image("image/png", &image::png_noise(200, 200, 1));
        let mut body = wire.returned(&[picture]);
        body["stream"] = json!(stream);
        let reply = ask(gateway, wire.path(), &body).await;
        assert_eq!((reply.status, reply.complete), (200, true), "{name}");
        let expected = if in_tool {
            "images in tool results are billed as text"
        } else {
            "images are billed as text"
        };
        assert_eq!(learned(&kept).await, [expected], "{name}");
        // The file is there a moment before the gateway goes by it.
        let begun = std::time::Instant::now();
        loop {
            let reply = ask(gateway, wire.path(), &body).await;
            if (reply.status, fixed(&reply)) == (200, "hoisted=1") {
                break;
            }
            assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{name}: {reply:?}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
    // A provider that bills by pixels teaches no lesson.
    let kept = LessonsFile::new("not-billed");
    let mock = std::thread::spawn(|| Mock::start(Options::default()).unwrap()).join().unwrap();
    let gateway = gateway(mock.address(), &kept.settings()).await;
    let picture = Messages.image("image/png", &image::png_noise(200, 200, 1));
    let reply = ask(gateway, Messages.path(), &Messages.returned(&[picture])).await;
    assert_eq!(reply.status, 200);
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!kept.file().exists());
}

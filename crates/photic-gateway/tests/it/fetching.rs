//! Pictures that came as addresses: fetched where the endpoint takes none, from a server of this
//! machine that the settings allow.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_testkit::image::png_noise;
use tokio::net::TcpListener;

use crate::caller::{Reply, exchange, post};
use crate::scripted::{Act, Upstream, ok};

/// Where a server listens by habit whose profile takes pictures as bytes only.
const BYTES_ONLY: &str = "127.0.0.1:1234";
/// Where any other server listens.
const ANYWHERE: &str = "127.0.0.1:0";

/// A picture host, an upstream, and a gateway between them.
struct Scene {
    gateway: SocketAddr,
    upstream: Arc<Upstream>,
    pictures: Arc<Upstream>,
    address: SocketAddr,
}

impl Scene {
    async fn new(
        upstream: &str,
        settings: &str,
        answer: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let (pictures_at, pictures) =
            Upstream::start(move |seen| answer(seen.head.split(' ').nth(1).unwrap_or_default()))
                .await;
        let listener = bound(upstream).await;
        let (upstream_at, upstream) = Upstream::start_on(listener, |_| vec![Act::Send(ok(b"{}"))]);
        let settings = format!(
            "[fetch]\nprivate = ['{pictures_at}']\ntimeout_s = 1\n{settings}\n\
             [[upstream]]\nurl = 'http://{upstream_at}'\n"
        );
        let gateway = crate::started(&settings).await;
        Self { gateway, upstream, pictures, address: pictures_at }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn ask(&self, body: &str) -> (Reply, String) {
        let reply = exchange(self.gateway, &post("/v1/messages", "", body.as_bytes())).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        (reply, String::from_utf8(self.upstream.last().body).unwrap())
    }

    fn fetched(&self) -> usize {
        self.pictures.seen.lock().unwrap().len()
    }
}

/// There is one such port, and other tests want it, too.
async fn bound(address: &str) -> TcpListener {
    for _ in 0..600 {
        if let Ok(listener) = TcpListener::bind(address).await {
            return listener;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    TcpListener::bind(address).await.expect("the port is free")
}

fn image(url: &str) -> String {
    format!(
        "{{\"type\":\"image\",\"source\":{{\"type\":\"url\",\"url\":\"{url}\"}},\
         \"cache_control\":{{\"type\":\"ephemeral\"}}}}"
    )
}

fn message(parts: &str) -> String {
    format!(
        "{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":[{parts}]}}]}}"
    )
}

fn picture(seed: u64) -> Vec<u8> {
    png_noise(64, 48, seed)
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_go_where_the_endpoint_takes_no_address_and_the_same_every_turn() {
    let count = std::sync::atomic::AtomicU64::new(0);
    // Another picture every time it is asked for.
    let scene = Scene::new(BYTES_ONLY, "", move |_| {
        let seed = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        vec![Act::Send(ok(&picture(seed)))]
    })
    .await;
    let body = message(&image(&scene.url("/p.png")));
    let (reply, first) = scene.ask(&body).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("fetched=1"), "{reply:?}");
    assert!(first.contains(&STANDARD.encode(picture(0))), "{first}");
    assert!(first.contains("\"cache_control\":{\"type\":\"ephemeral\"}"), "{first}");
    assert!(!first.contains("http://"), "{first}");
    let (_, second) = scene.ask(&body).await;
    assert_eq!(second, first);
    assert_eq!(scene.fetched(), 1);
    // Nothing of the caller's goes to the picture's host.
    let head = scene.pictures.last().head;
    assert!(!head.contains("authorization") && !head.contains("x-api-key"), "{head}");
}

#[tokio::test]
async fn who_takes_addresses_is_left_to_fetch_them() {
    let scene = Scene::new(ANYWHERE, "", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let body = message(&image(&scene.url("/p.png")));
    let (reply, sent) = scene.ask(&body).await;
    assert_eq!((reply.header("x-photic-fixes"), sent), (Some("0"), body));
    assert_eq!(scene.fetched(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn always_means_always_and_never_never() {
    let always =
        Scene::new(ANYWHERE, "mode = 'always'", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let (_, sent) = always.ask(&message(&image(&always.url("/p.png")))).await;
    assert!(sent.contains(&STANDARD.encode(picture(1))) && !sent.contains("http://"), "{sent}");
    let never =
        Scene::new(BYTES_ONLY, "mode = 'never'", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let (reply, sent) = never.ask(&message(&image(&never.url("/p.png")))).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("not_shown=1"));
    assert!(sent.contains("this endpoint cannot reach where it is stored"), "{sent}");
    assert_eq!(never.fetched(), 0);
    let off = post(
        "/v1/messages",
        "x-photic-off: 1\r\n",
        message(&image(&always.url("/q.png"))).as_bytes(),
    );
    exchange(always.gateway, &off).await;
    assert_eq!(always.fetched(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_fetched_is_a_notice_and_the_request_goes_out() {
    let scene = Scene::new(BYTES_ONLY, "max_mib = 1", |path| match path {
        "/slow" => vec![Act::AwaitGone],
        "/large" => vec![Act::Send(ok(&[&picture(1)[..], &vec![0; 2 << 20]].concat()))],
        "/page" => vec![Act::Send(ok(b"<html>secret page</html>"))],
        "/gone" => vec![Act::Send(b"HTTP/1.1 404 secret\r\ncontent-length: 0\r\n\r\n".to_vec())],
        "/inside" => vec![Act::Send(
            b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"
                .to_vec(),
        )],
        _ => vec![Act::Send(ok(&picture(1)))],
    })
    .await;
    for (url, says) in [
        (scene.url("/slow"), "it could not be fetched from its address"),
        (scene.url("/gone"), "it could not be fetched from its address"),
        (scene.url("/large"), "the file at its address is too large to be fetched"),
        (scene.url("/page"), "there is no picture or document at its address"),
        (scene.url("/inside"), "its address may not be fetched"),
        ("http://127.0.0.1/".to_owned(), "its address may not be fetched"),
        ("http://[::ffff:a9fe:a9fe]/".to_owned(), "its address may not be fetched"),
        ("https://a:b@8.8.8.8/p.png".to_owned(), "its address may not be fetched"),
    ] {
        let both = [image(&url), image(&scene.url("/good"))].join(",");
        let body = message(&both);
        let (reply, sent) = scene.ask(&body).await;
        assert_eq!(reply.header("x-photic-fixed"), Some("fetched=1, not_shown=1"), "{url}");
        let notice = format!("[image not shown: {says}; you have not seen it]");
        assert!(sent.contains(&notice), "{url} {sent}");
        assert!(!sent.contains(&url) && !sent.contains("secret"), "{sent}");
        // A failure is remembered: the notice stays, and the host is left in peace.
        let asked = scene.fetched();
        let (_, again) = scene.ask(&body).await;
        assert_eq!((again, scene.fetched()), (sent, asked), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_in_the_words_of_a_tool_are_words() {
    let scene = Scene::new(ANYWHERE, "mode = 'always'", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let words = format!(
        "see {} or [{{\\\"type\\\":\\\"image\\\",\\\"source\\\":{{\\\"type\\\":\\\"url\\\",\\\"url\\\":\\\"{}\\\"}}}}]",
        scene.url("/a"),
        scene.url("/b")
    );
    for content in [words, scene.url("/c")] {
        let body = format!(
            "{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}},\
             {{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{{}}}}]}},\
             {{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"{content}\"}}]}}]}}"
        );
        let (_, sent) = scene.ask(&body).await;
        assert_eq!(sent, body);
    }
    assert_eq!(scene.fetched(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_endpoint_does_not_take_is_fetched_and_made_into_what_it_takes() {
    let scene = Scene::new(BYTES_ONLY, "", |_| vec![Act::Send(ok(&bitmap()))]).await;
    let body = message(&image(&scene.url("/p.bmp")));
    let (reply, first) = scene.ask(&body).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("remade=1"), "{first}");
    let (transcript, _) = photic::lift(photic::Wire::Anthropic, first.as_bytes());
    let header = transcript.media[0].header();
    assert_eq!((header.media_type, header.size), (Some("image/png"), Some((200, 200))));
    assert_eq!(scene.ask(&body).await.1, first);
    assert_eq!(scene.fetched(), 1);
}

/// A type that few endpoints take, and smaller than this one takes: 40x40, gray.
fn bitmap() -> Vec<u8> {
    let length = 40 * 40 * 3_u32;
    let mut bytes = b"BM".to_vec();
    for word in [54 + length, 0, 54, 40, 40, 40, 1 | 24 << 16, 0, length, 0, 0, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(bytes.len() + length as usize, 128);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_are_fetched_once_each() {
    let scene = Scene::new(BYTES_ONLY, "", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let urls: Vec<String> = (0..30).map(|n| image(&scene.url(&format!("/{}", n % 10)))).collect();
    let (reply, sent) = scene.ask(&message(&urls.join(","))).await;
    assert!(reply.header("x-photic-fixed").unwrap().starts_with("fetched="), "{reply:?}");
    assert!(!sent.contains("could not be fetched"), "{sent}");
    assert_eq!(scene.fetched(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_only_so_long_for_its_pictures() {
    let scene = Scene::new(BYTES_ONLY, "", |_| vec![Act::AwaitGone]).await;
    let urls: Vec<String> = (0..40).map(|n| image(&scene.url(&format!("/{n}")))).collect();
    let begun = std::time::Instant::now();
    let (_, sent) = scene.ask(&message(&urls.join(","))).await;
    // One after another they would take more than a minute.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert!(!sent.contains("http://"), "{sent}");
}

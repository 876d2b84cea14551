//! Images by URL are fetched if the endpoint accepts no URLs, from a local server that the settings
//! allow.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_testkit::image::png_noise;
use tokio::net::TcpListener;

use crate::caller::{Reply, exchange, post};
use crate::scripted::{Act, Upstream, ok};

/// The usual address of a server whose profile accepts images as bytes only.
const BYTES_ONLY: &str = "127.0.0.1:1234";
/// The address of any other server.
const ANYWHERE: &str = "127.0.0.1:0";

/// An image host, an upstream, and a gateway between them.
struct Setup {
    gateway: SocketAddr,
    upstream: Arc<Upstream>,
    pictures: Arc<Upstream>,
    address: SocketAddr,
}

impl Setup {
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

/// Binds an address, and waits while another test uses its port.
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
    // The host returns another image every time.
    let setup = Setup::new(BYTES_ONLY, "", move |_| {
        let seed = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        vec![Act::Send(ok(&picture(seed)))]
    })
    .await;
    let body = message(&image(&setup.url("/p.png")));
    let (reply, first) = setup.ask(&body).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("fetched=1"), "{reply:?}");
    assert!(first.contains(&STANDARD.encode(picture(0))), "{first}");
    assert!(first.contains("\"cache_control\":{\"type\":\"ephemeral\"}"), "{first}");
    assert!(!first.contains("http://"), "{first}");
    let (_, second) = setup.ask(&body).await;
    assert_eq!(second, first);
    assert_eq!(setup.fetched(), 1);
    // No header of the client is sent to the image host.
    let head = setup.pictures.last().head;
    assert!(!head.contains("authorization") && !head.contains("x-api-key"), "{head}");
}

#[tokio::test]
async fn an_endpoint_that_accepts_addresses_fetches_them_itself() {
    let setup = Setup::new(ANYWHERE, "", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let body = message(&image(&setup.url("/p.png")));
    let (reply, sent) = setup.ask(&body).await;
    assert_eq!((reply.header("x-photic-fixes"), sent), (Some("0"), body));
    assert_eq!(setup.fetched(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn always_means_always_and_never_never() {
    let always =
        Setup::new(ANYWHERE, "mode = 'always'", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let (_, sent) = always.ask(&message(&image(&always.url("/p.png")))).await;
    assert!(sent.contains(&STANDARD.encode(picture(1))) && !sent.contains("http://"), "{sent}");
    let never =
        Setup::new(BYTES_ONLY, "mode = 'never'", |_| vec![Act::Send(ok(&picture(1)))]).await;
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
    let setup = Setup::new(BYTES_ONLY, "max_mib = 1", |path| match path {
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
        (setup.url("/slow"), "it could not be fetched from its address"),
        (setup.url("/gone"), "it could not be fetched from its address"),
        (setup.url("/large"), "the file at its address is too large to be fetched"),
        (setup.url("/page"), "there is no picture or document at its address"),
        (setup.url("/inside"), "its address may not be fetched"),
        ("http://127.0.0.1/".to_owned(), "its address may not be fetched"),
        ("http://[::ffff:a9fe:a9fe]/".to_owned(), "its address may not be fetched"),
        ("https://a:b@8.8.8.8/p.png".to_owned(), "its address may not be fetched"),
    ] {
        let both = [image(&url), image(&setup.url("/good"))].join(",");
        let body = message(&both);
        let (reply, sent) = setup.ask(&body).await;
        assert_eq!(reply.header("x-photic-fixed"), Some("fetched=1, not_shown=1"), "{url}");
        let notice = format!("[image not shown: {says}; you have not seen it]");
        assert!(sent.contains(&notice), "{url} {sent}");
        assert!(!sent.contains(&url) && !sent.contains("secret"), "{sent}");
        // A failure is cached: the notice stays, and the host is not asked again.
        let asked = setup.fetched();
        let (_, again) = setup.ask(&body).await;
        assert_eq!((again, setup.fetched()), (sent, asked), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_in_the_words_of_a_tool_are_words() {
    let setup = Setup::new(ANYWHERE, "mode = 'always'", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let words = format!(
        "see {} or [{{\\\"type\\\":\\\"image\\\",\\\"source\\\":{{\\\"type\\\":\\\"url\\\",\\\"url\\\":\\\"{}\\\"}}}}]",
        setup.url("/a"),
        setup.url("/b")
    );
    for content in [words, setup.url("/c")] {
        let body = format!(
            "{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}},\
             {{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{{}}}}]}},\
             {{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"{content}\"}}]}}]}}"
        );
        let (_, sent) = setup.ask(&body).await;
        assert_eq!(sent, body);
    }
    assert_eq!(setup.fetched(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_endpoint_does_not_take_is_fetched_and_made_into_what_it_takes() {
    let setup = Setup::new(BYTES_ONLY, "", |_| vec![Act::Send(ok(&bitmap()))]).await;
    let body = message(&image(&setup.url("/p.bmp")));
    let (reply, first) = setup.ask(&body).await;
    assert_eq!(reply.header("x-photic-fixed"), Some("remade=1"), "{first}");
    let (transcript, _) = photic::lift(photic::Wire::Anthropic, first.as_bytes());
    let header = transcript.media[0].header();
    assert_eq!((header.media_type, header.size), (Some("image/png"), Some((200, 200))));
    assert_eq!(setup.ask(&body).await.1, first);
    assert_eq!(setup.fetched(), 1);
}

/// Returns a gray 40x40 image of a type that few endpoints accept, smaller than this one's minimum.
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
    let setup = Setup::new(BYTES_ONLY, "", |_| vec![Act::Send(ok(&picture(1)))]).await;
    let urls: Vec<String> = (0..30).map(|n| image(&setup.url(&format!("/{}", n % 10)))).collect();
    let (reply, sent) = setup.ask(&message(&urls.join(","))).await;
    assert!(reply.header("x-photic-fixed").unwrap().starts_with("fetched="), "{reply:?}");
    assert!(!sent.contains("could not be fetched"), "{sent}");
    assert_eq!(setup.fetched(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_only_so_long_for_its_pictures() {
    let setup = Setup::new(BYTES_ONLY, "", |_| vec![Act::AwaitGone]).await;
    let urls: Vec<String> = (0..40).map(|n| image(&setup.url(&format!("/{n}")))).collect();
    let begun = std::time::Instant::now();
    let (_, sent) = setup.ask(&message(&urls.join(","))).await;
    // One after another they would take more than a minute.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    assert!(!sent.contains("http://"), "{sent}");
}

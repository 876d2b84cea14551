//! `view`: pictures, zooms, handles, renderers, URLs.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use photic_net::fetch::{Fetch, Rules, System};
use photic_pixels::geometry::Affine;
use photic_pixels::{DrawnPage, Layout, Raster};
use photic_tools::RefusalCode::{
    Absent, BadArguments, BadRegion, Corrupt, Empty, FetchRefused, NeedsNet, NeedsRender,
    NeedsStore, NotAnImage, TooLarge, UnsupportedFormat,
};
use photic_tools::{
    Bounds, Capability, Content, Fidelity, Originals as _, Refusal, Render, RenderRequest, Tools,
    ViewArguments,
};

use crate::world::{MemoryStore, World, captured, code, looking, picture, view, wait};

#[test]
fn a_bitmap_is_shown_with_its_facts() {
    let world = World::new();
    let seen = view(&world.tools(), "picture.png").unwrap();
    assert_eq!(seen.source_size, (320, 240));
    assert_eq!((seen.region.width, seen.region.height), (320, 240));
    assert_eq!(seen.media_type, photic::media::sniff(&seen.bytes).unwrap());
    assert_eq!(seen.byte_size, seen.bytes.len());
    assert!(seen.tokens > 0 && seen.pages == 1 && seen.reference.is_none());
    assert!(seen.label.starts_with("picture.png: 320x240 px"), "{}", seen.label);
    // Serialization and logs contain everything but the bytes.
    let json = serde_json::to_string(&seen).unwrap();
    assert!(!json.contains("bytes\":[") && json.len() < 1000, "{json}");
    assert!(format!("{seen:?}").len() < 200);
}

#[test]
fn a_region_is_read_from_the_original() {
    let world = World::new();
    world.write("large.png", picture(4000, 3000));
    let tools = world.tools();
    let whole = view(&tools, "large.png").unwrap();
    assert!(whole.scale < 0.6 && whole.width <= 2000);
    let region = Some("1000,500,800,600".parse().unwrap());
    let zoom = wait(tools.view(&ViewArguments { region, ..looking("large.png") })).unwrap();
    assert_eq!((zoom.width, zoom.height), (800, 600), "native pixels, not enlarged ones");
    assert!((zoom.scale - 1.0).abs() < 1e-9);
    assert_eq!(zoom.map.map_point(10.0, 10.0), (1010.0, 510.0));
    let region = Some("9000,9000,10,10".parse().unwrap());
    let outside = ViewArguments { region, ..looking("large.png") };
    assert_eq!(code(wait(tools.view(&outside))), BadRegion);
}

#[test]
fn what_the_caller_allows_is_kept() {
    let world = World::new();
    world.write("large.png", picture(4000, 3000));
    let tools = world.tools();
    let small = ViewArguments { max_edge: Some(300), ..looking("large.png") };
    let seen = wait(tools.view(&small)).unwrap();
    assert!(seen.width.max(seen.height) <= 300);
    let light = ViewArguments { max_bytes: Some(20_000), ..looking("large.png") };
    assert!(wait(tools.view(&light)).unwrap().bytes.len() <= 20_000);
    let glance = ViewArguments { fidelity: Some(Fidelity::Glance), ..looking("large.png") };
    assert!(wait(tools.view(&glance)).unwrap().width <= 512);
    let tile = ViewArguments { tile: Some(1), ..looking("large.png") };
    assert!((wait(tools.view(&tile)).unwrap().scale - 1.0).abs() < 1e-9);
    for bad in [
        ViewArguments { page: Some(0), ..looking("large.png") },
        ViewArguments { max_edge: Some(0), ..looking("large.png") },
        ViewArguments { sheet: Some(0), ..looking("large.png") },
        ViewArguments { sheet: Some(9), page: Some(1), ..looking("large.png") },
    ] {
        assert_eq!(code(wait(tools.view(&bad))), BadArguments, "{bad:?}");
    }
    let page = ViewArguments { page: Some(2), ..looking("large.png") };
    assert!(wait(tools.view(&page)).is_err(), "there is one page");
}

#[test]
fn frames_are_pages() {
    let world = World::new();
    let gif = concat!(env!("CARGO_MANIFEST_DIR"), "/../photic-cli/tests/data/three-frames.gif");
    world.write("three.gif", std::fs::read(gif).unwrap());
    let tools = world.tools();
    assert_eq!(view(&tools, "three.gif").unwrap().pages, 3);
    let page = |page| ViewArguments { page: Some(page), ..looking("three.gif") };
    let [one, two] = [1, 2].map(|number| wait(tools.view(&page(number))).unwrap());
    assert_ne!(one.bytes, two.bytes);
    let sheet = ViewArguments { sheet: Some(3), ..looking("three.gif") };
    assert!(wait(tools.view(&sheet)).unwrap().source_size.0 > 20);
}

#[test]
fn regions_come_in_every_spelling_models_use() {
    for region in [
        serde_json::json!("1,2,3,4"),
        serde_json::json!([1, 2, 3, 4]),
        serde_json::json!({"x": 1, "y": 2, "width": 3, "height": 4}),
        serde_json::json!({"x": 1, "y": 2, "w": 3, "h": 4}),
    ] {
        let json = serde_json::json!({ "source": "a", "region": region });
        let arguments: ViewArguments = serde_json::from_value(json).unwrap();
        assert_eq!(arguments.region.unwrap().to_string(), "1,2,3,4");
    }
    let json = serde_json::json!({ "source": "a", "region": "1,2,3" });
    assert!(serde_json::from_value::<ViewArguments>(json).is_err());
}

#[test]
fn what_is_no_picture_is_refused_by_its_bytes() {
    let world = World::new();
    world.write("fake.png", "text, whatever the name says\n");
    world.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    world.write("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
    world.write("design.psd", b"8BPS\0\x01\0\0\0\0\0\0");
    world.write("empty.png", "");
    world.write("torn.png", &captured("bars.png")[..60]);
    world.write("random.bin", [0, 1, 2, 3, 250, 251]);
    let tools = world.tools();
    for (name, expected) in [
        ("fake.png", NeedsRender),
        ("drawing.svg", NeedsRender),
        ("paper.pdf", NeedsRender),
        ("design.psd", UnsupportedFormat),
        ("empty.png", Empty),
        ("torn.png", Corrupt),
        ("random.bin", NotAnImage),
    ] {
        let refusal = view(&tools, name).unwrap_err();
        assert_eq!(refusal.code, expected, "{name}: {refusal:?}");
        assert!(!refusal.hint.is_empty());
        if expected == NeedsRender {
            assert!(refusal.says.contains("capability `render`"), "{}", refusal.says);
        }
    }
    assert!(view(&tools, "fake.png").unwrap_err().hint.contains("`read`"));
}

#[test]
fn a_picture_larger_than_allowed_is_refused_before_it_is_read() {
    let world = World::new();
    let file = std::fs::File::create(world.root().join("huge.png")).unwrap();
    std::io::copy(&mut picture(64, 64).as_slice(), &mut &file).unwrap();
    // Far larger than memory; a sparse file.
    file.set_len(1 << 40).unwrap();
    assert_eq!(code(view(&world.tools(), "huge.png")), TooLarge);
    let size = picture(320, 240).len() as u64;
    let tools = |most: u64| {
        let bounds = Bounds { picture_bytes: most, ..Bounds::default() };
        Tools::builder().root(world.root()).bounds(bounds).build().unwrap()
    };
    assert!(view(&tools(size), "picture.png").is_ok());
    assert_eq!(code(view(&tools(size - 1), "picture.png")), TooLarge);
}

#[test]
fn a_thousand_views_keep_one_original_and_its_handle_shows_it_again() {
    let world = World::new();
    let store = MemoryStore::new();
    let tools =
        Tools::builder().root(world.root()).originals(Arc::clone(&store) as _).build().unwrap();
    let first = view(&tools, "picture.png").unwrap();
    let handle = first.reference.clone().unwrap();
    assert!(first.label.contains(&handle));
    for _ in 0..20 {
        assert_eq!(view(&tools, "picture.png").unwrap().reference.as_ref(), Some(&handle));
    }
    assert_eq!(store.originals.lock().unwrap().len(), 1);
    assert_eq!(store.originals.lock().unwrap()[&handle], picture(320, 240), "the original");
    std::fs::remove_file(world.root().join("picture.png")).unwrap();
    let region = Some("0,0,100,100".parse().unwrap());
    let zoom = wait(tools.view(&ViewArguments { region, ..looking(&handle) })).unwrap();
    assert_eq!(zoom.source_size, (320, 240), "zooming a handle reads the original");
    assert_eq!(zoom.reference, Some(handle.clone()));
    store.originals.lock().unwrap().clear();
    let refusal = view(&tools, &handle).unwrap_err();
    assert_eq!(refusal.code, Absent);
    assert!(refusal.says.contains("it was dropped"), "{}", refusal.says);
    assert_eq!(code(view(&world.tools(), &handle)), NeedsStore);
}

#[test]
fn what_is_refused_is_not_kept() {
    let world = World::new();
    world.write("torn.png", &captured("bars.png")[..60]);
    let store = MemoryStore::new();
    let tools =
        Tools::builder().root(world.root()).originals(Arc::clone(&store) as _).build().unwrap();
    assert!(view(&tools, "torn.png").is_err() && view(&tools, "inside.txt").is_err());
    assert!(store.originals.lock().unwrap().is_empty());
    // Text from another source is not shown either.
    let handle = store.put(b"text", "text/plain").unwrap();
    assert_eq!(code(view(&tools, &handle)), NeedsRender);
}

/// Draws every SVG as one picture, and refuses page 2.
#[derive(Debug)]
struct Painter;

impl Render for Painter {
    fn name(&self) -> &'static str {
        "painter"
    }

    fn renders(&self, content: Content, head: &[u8], _: &str) -> bool {
        content == Content::Svg && head.starts_with(b"<svg")
    }

    fn render(&self, request: &RenderRequest<'_>) -> Result<DrawnPage, Refusal> {
        assert!(request.bytes.starts_with(b"<svg"));
        if request.page != 1 {
            return Err(Refusal::new(BadRegion, "there is one page", "ask for page 1"));
        }
        let beside = |name| (request.beside)(name).map_or("none", |_| "some");
        let not_shown =
            ["picture.png", "./no%20such.png", "../outside.png", "/etc/passwd", "file:picture.png"];
        let not_shown = not_shown.map(|name| format!("{name}: {}", beside(name))).to_vec();
        let raster =
            Raster { width: 400, height: 200, layout: Layout::Rgb, data: vec![9; 240_000] };
        let to_page = Affine::scale(0.5, 0.5);
        Ok(DrawnPage {
            raster,
            to_page,
            size: (200.0, 100.0),
            unit: "pt",
            page: 1,
            pages: 1,
            not_shown,
            rows: Vec::new(),
        })
    }
}

#[test]
fn a_renderer_is_a_capability_that_the_host_injects() {
    let world = World::new();
    world.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    assert_eq!(world.tools().capabilities(), [Capability::Read]);
    let tools = Tools::builder().root(world.root()).renderer(Arc::new(Painter)).build().unwrap();
    assert_eq!(tools.capabilities(), [Capability::Read, Capability::Render]);
    let seen = view(&tools, "drawing.svg").unwrap();
    assert_eq!(
        (seen.source_size, seen.unit, (seen.width, seen.height)),
        ((200, 100), "pt", (400, 200))
    );
    assert!(
        seen.label.starts_with("drawing.svg: 200x100 pt, shown as 400x200, scale 2.000"),
        "{}",
        seen.label
    );
    let told = |words: &str| seen.label.contains(&format!("not shown: {words}"));
    for reference in ["picture.png: some", "./no%20such.png: none", "../outside.png: none"] {
        assert!(told(reference), "{reference}: {}", seen.label);
    }
    assert!(told("/etc/passwd: none") && told("file:picture.png: none"), "{}", seen.label);
    let sheet = ViewArguments { sheet: Some(4), ..looking("drawing.svg") };
    assert_eq!(code(wait(tools.view(&sheet))), BadArguments);
    let page = ViewArguments { page: Some(2), ..looking("drawing.svg") };
    assert_eq!(code(wait(tools.view(&page))), BadRegion);
    // It renders drawings only; bitmaps never pass through it.
    assert_eq!(code(view(&tools, "inside.txt")), NeedsRender);
    assert_eq!(view(&tools, "picture.png").unwrap().source_size, (320, 240));
}

/// Serves one file on loopback.
fn serve(body: Vec<u8>) -> std::net::SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let _ = socket.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(&body));
        }
    });
    address
}

#[test]
fn an_address_needs_the_net_and_passes_its_guard() {
    let world = World::new();
    assert_eq!(code(view(&world.tools(), "https://example.com/a.png")), NeedsNet);
    let address = serve(picture(320, 240));
    let tools = |private: Vec<std::net::SocketAddr>| {
        let mut rules = Rules::new(|head| photic::media::sniff(head).is_some());
        rules.private = private;
        let net = Fetch::new(rules, Arc::new(System));
        Tools::builder().root(world.root()).net(net).build().unwrap()
    };
    let source = format!("http://{address}/a.png");
    assert_eq!(view(&tools(vec![address]), &source).unwrap().source_size, (320, 240));
    let refusal = view(&tools(Vec::new()), &source).unwrap_err();
    assert_eq!(refusal.code, FetchRefused);
    let text = serve(b"just text".to_vec());
    assert_eq!(code(view(&tools(vec![text]), &format!("http://{text}/a.png"))), FetchRefused);
}

//! Prose, tables, values and notebooks made to hurt: each ends in a page or a refusal, soon.

#![expect(clippy::expect_used, reason = "a test that cannot make its sources has failed")]
#![expect(clippy::print_stdout, reason = "what each case took is worth a look")]
#![expect(clippy::format_collect, reason = "sources are made once")]

use std::net::{Ipv4Addr, TcpListener};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use photic_pixels::encode::{EncodeOptions, Prefer, encode};
use photic_pixels::{Layout, Raster};
use photic_render::{Kind, Missing, RefusalCode, Request, Worker, WorkerLimits};

use crate::worker;

/// A source that is up to no good.
type Case = (&'static str, Kind, String);

fn prose() -> Vec<Case> {
    let markdown = |name, text| (name, Kind::Markdown, text);
    let columns = |cell: &str| format!("|{}\n", format!("{cell}|").repeat(10_000));
    vec![
        markdown("ten thousand quotes", ">".repeat(10_000) + " deep"),
        markdown("quotes in many lines", (">".repeat(500) + " deep\n").repeat(200)),
        markdown("ten thousand lists", "- ".repeat(10_000) + "deep"),
        markdown("ten thousand brackets", "[".repeat(10_000)),
        markdown("ten thousand links", "[a](".repeat(10_000)),
        markdown("stars", "*a **a ".repeat(20_000)),
        markdown("backticks", (1..600).map(|n| "`".repeat(n) + " ").collect()),
        markdown("ten thousand columns", columns("a") + &columns("-") + &columns("1")),
        markdown("a long table", "|a|b|\n|-|-|\n".to_owned() + &"|1|2|\n".repeat(200_000)),
        markdown("one line of a million", "word ".repeat(200_000)),
        markdown("one word of a million", "x".repeat(1_000_000)),
        markdown("a tower of accents", format!("a{}", "\u{301}".repeat(200_000))),
        markdown("accents everywhere", ("z".to_owned() + &"\u{336}".repeat(30)).repeat(20_000)),
        markdown("turned to and fro", "\u{202e}a\u{202d}b \u{2067}".repeat(50_000)),
        markdown("both directions", "abc אבג 123 ".repeat(50_000)),
        markdown("joined emoji", "👩‍👩‍👧‍👦".repeat(20_000)),
        markdown(
            "a large code block",
            format!("```rust\n{}", "let x = \"y\"; // z\n".repeat(200_000)),
        ),
        markdown("many code blocks", "```js\nlet a\n```\n".repeat(20_000)),
        markdown("footnotes", (0..20_000).map(|n| format!("[^{n}] \n\n[^{n}]: n\n\n")).collect()),
        markdown("references", (0..20_000).map(|n| format!("[{n}]: x{n}\n\n[{n}]\n\n")).collect()),
        markdown("deep formulas", format!("$${}$$", "\\frac{".repeat(5_000))),
        markdown("tags", "<b>".repeat(100_000)),
        markdown("tags that never end", format!("<div\n{}", "<a ".repeat(100_000))),
        markdown("script", "<script>while(1){}</script>\n<svg onload=go()></svg>".repeat(1_000)),
        markdown("a picture bomb", format!("![]({})", large_picture())),
        markdown("a picture bomb, often", format!("![]({})\n\n", large_picture()).repeat(6)),
        markdown(
            "pictures just small enough",
            format!("![]({})\n\n", flat_picture(30_000, 1_000)).repeat(25),
        ),
        markdown("ten thousand pictures", "![](data:image/png;base64,AAAA)".repeat(10_000)),
        markdown("a drawing bomb", format!("![](data:image/svg+xml,{})", drawing_bomb())),
        markdown("nothing but ends", "\r\n".repeat(500_000)),
        markdown("all characters", (1..0x3_0000).filter_map(char::from_u32).collect()),
    ]
}

fn tables() -> Vec<Case> {
    let csv = |name, text| (name, Kind::Csv, text);
    vec![
        csv("a quote of 20 MB", format!("a,b\n1,\"{}", "never closed\n".repeat(1_600_000))),
        csv("quotes without end", "a,\"b\n".repeat(1_000_000)),
        csv("a million columns", "x,".repeat(1_000_000)),
        csv("ten thousand columns", ("1,".repeat(10_000) + "\n").repeat(100)),
        csv("a million rows", "1,2,3\n".repeat(1_000_000)),
        csv("one cell of a million", "x".repeat(1_000_000)),
        csv("nothing but quotes", "\"".repeat(1_000_000)),
        csv("nothing but ends", "\n".repeat(1_000_000)),
        csv("towers of accents", format!("a,b\n1,e{}\n", "\u{301}".repeat(100_000))),
    ]
}

fn values() -> Vec<Case> {
    let json = |name, text| (name, Kind::Json, text);
    let notebook = |name, text| (name, Kind::Notebook, text);
    let cell = |outputs: &str| {
        format!(
            "{{\"cells\": [{{\"cell_type\": \"code\", \"source\": [\"x\"], \"outputs\": {outputs}}}]}}"
        )
    };
    let picture = |data: &str| {
        cell(&format!(
            "[{{\"output_type\": \"display_data\", \"data\": {{\"image/png\": \"{data}\"}}}}]"
        ))
    };
    let base64 = large_picture().split_once(',').map(|(_, data)| data.to_owned());
    vec![
        json("deep lists", "[".repeat(100_000) + &"]".repeat(100_000)),
        json("deep objects", "{\"a\":".repeat(100_000)),
        json("a text of 5 MB", format!("\"{}\"", "x".repeat(5_000_000))),
        json("a million numbers", format!("[{}1]", "1,".repeat(1_000_000))),
        json("a wide object", format!("{{{}\"z\":1}}", "\"key\":[1,{\"a\":2}],".repeat(100_000))),
        notebook("a deep notebook", format!("{{\"cells\": {}", "[".repeat(100_000))),
        notebook(
            "cells of other types",
            "{\"cells\": [1, null, [], {}, {\"cell_type\": 5}]}".to_owned(),
        ),
        notebook(
            "outputs of other types",
            cell("[1, {\"output_type\": {}}, {\"data\": []}, null]"),
        ),
        notebook(
            "lines of other types",
            cell("[{\"output_type\": \"stream\", \"text\": [1, {}, \"a\"]}]"),
        ),
        notebook(
            "a huge output",
            cell(&format!(
                "[{{\"output_type\": \"stream\", \"text\": \"{}\"}}]",
                "x\\n".repeat(2_000_000)
            )),
        ),
        notebook(
            "many outputs",
            cell(&format!(
                "[{}{{}}]",
                "{\"output_type\": \"stream\", \"text\": \"a\"},".repeat(100_000)
            )),
        ),
        notebook(
            "escapes",
            cell(&format!(
                "[{{\"output_type\": \"stream\", \"text\": \"{}\"}}]",
                "\\u001b[31m".repeat(100_000)
            )),
        ),
        notebook("a picture bomb", picture(&base64.unwrap_or_default())),
        notebook("base64 of nothing", picture(&"A".repeat(8_000_000))),
        notebook(
            "many cells",
            format!(
                "{{\"cells\": [{}{{}}]}}",
                "{\"cell_type\": \"markdown\", \"source\": \"# a\"},".repeat(50_000)
            ),
        ),
    ]
}

/// 12,000 by 12,000 pixels in few bytes.
fn large_picture() -> String {
    flat_picture(12_000, 12_000)
}

/// A picture of one color.
fn flat_picture(width: u32, height: u32) -> String {
    let data = vec![200; width as usize * height as usize];
    let raster = Raster { width, height, layout: Layout::Gray, data };
    let options =
        EncodeOptions { accepts: &["image/png"], prefer: Prefer::Lossless, ..Default::default() };
    let bytes = encode(&raster, &options).expect("a PNG").bytes;
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}

fn drawing_bomb() -> String {
    let blur = "<feGaussianBlur stdDeviation='200'/>".repeat(60);
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='1000' height='1000'><filter id='f'>{blur}\
         </filter><rect width='1000' height='1000' filter='url(#f)'/></svg>"
    );
    svg.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn survives(cases: Vec<Case>, least: usize) {
    assert!(cases.len() >= least, "{}", cases.len());
    let worker = Worker { limits: WorkerLimits::default(), ..worker() };
    for (name, kind, text) in cases {
        let begin = Instant::now();
        let outcome = worker.draw(&Request::new(text.as_bytes(), kind));
        let took = begin.elapsed();
        let said = outcome.as_ref().map(|page| (page.facts.pages, &page.facts.left_out));
        println!("{name}: {} bytes, {took:?}, {said:?}", text.len());
        assert!(took < Duration::from_mins(1), "`{name}` took {took:?}");
        match outcome {
            Ok(page) => assert!(page.raster.width <= 1092 && page.raster.height <= 1092, "{name}"),
            Err(refusal) => {
                use RefusalCode::{Crashed, Unavailable};
                assert!(!matches!(refusal.code, Crashed | Unavailable), "{name}: {refusal}");
                assert!(!refusal.hint.is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn prose_is_bounded() {
    survives(prose(), 30);
}

#[test]
fn tables_are_bounded() {
    survives(tables(), 9);
}

#[test]
fn values_and_notebooks_are_bounded() {
    survives(values(), 15);
}

#[test]
fn nothing_outside_is_fetched_or_read() {
    let trap = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    trap.set_nonblocking(true).expect("a listener that does not wait");
    let port = trap.local_addr().expect("an address").port();
    let address = format!("http://127.0.0.1:{port}/a.png");
    for target in [address.as_str(), "file:///etc/passwd", "../../secret", "/etc/passwd"] {
        let text = format!(
            "![a]({target})\n\n[link]({target}) <img src='{target}'>\n\n\
             <iframe src='{target}'></iframe>\n\n\
             ![b](data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' \
             height='9'%3E%3Cimage href='{target}'/%3E%3C/svg%3E)\n"
        );
        let page = worker().draw(&Request::new(text.as_bytes(), Kind::Markdown)).expect("a page");
        let listed = page
            .facts
            .left_out
            .iter()
            .any(|missing| missing.what == Missing::External && missing.detail == target);
        assert!(listed, "{target}: {:?}", page.facts.left_out);
        let cell = serde_json_like(&text);
        let notebook =
            format!("{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": \"{cell}\"}}]}}");
        let request = Request::new(notebook.as_bytes(), Kind::Notebook);
        let page = worker().draw(&request).expect("a page");
        assert!(!page.facts.left_out.is_empty(), "{target}");
    }
    assert!(trap.accept().is_err(), "somebody connected");
}

/// A text inside quotes.
fn serde_json_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

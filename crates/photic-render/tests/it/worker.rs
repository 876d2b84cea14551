//! A child that misbehaves is a refusal, within the time it was given.

use std::time::{Duration, Instant};

use photic_render::{Kind, RefusalCode, Request, Worker, WorkerLimits, draw};

use crate::worker;

const DRAWING: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='9' height='9'/></svg>";

#[test]
fn a_child_draws_what_would_be_drawn_here() {
    let request = Request::new(DRAWING, Kind::Svg);
    let there = worker().draw(&request).expect("a page");
    assert_eq!(there, draw(&request).expect("a page"));
    assert_eq!((there.raster.width, there.raster.height), (512, 256));
}

#[test]
fn refusals_come_through() {
    let refusal = worker().draw(&Request::new(b"<svg", Kind::Svg)).expect_err("no drawing");
    assert_eq!(refusal.code, RefusalCode::Corrupt);
    let refusal = worker().draw(&Request::new(b"", Kind::Svg)).expect_err("nothing");
    assert_eq!(refusal.code, RefusalCode::Empty);
    let mut request = Request::new(DRAWING, Kind::Svg);
    request.wanted.bounds.bytes = 10;
    let refusal = worker().draw(&request).expect_err("too long");
    assert_eq!(refusal.code, RefusalCode::TooLarge);
}

#[test]
fn whatever_a_child_does_is_a_refusal() {
    let cases = [
        ("cat > /dev/null; echo hello", RefusalCode::Crashed),
        ("exit 0", RefusalCode::Crashed),
        ("kill -SEGV $$", RefusalCode::Crashed),
        ("kill -ABRT $$", RefusalCode::TooMuchMemory),
        ("kill -XCPU $$", RefusalCode::TooSlow),
        ("exec yes", RefusalCode::Crashed),
        ("exec sleep 600", RefusalCode::TooSlow),
        // It closes its output, and lives on.
        ("exec > /dev/null; exec sleep 600", RefusalCode::Crashed),
        // Its child holds the output open.
        ("sleep 600 & wait", RefusalCode::TooSlow),
    ];
    for (script, code) in cases {
        let limits = WorkerLimits { time: Duration::from_secs(3), ..WorkerLimits::default() };
        let arguments = vec!["-c".into(), script.into()];
        let worker = Worker { limits, ..Worker::new("/bin/sh", arguments) };
        let begin = Instant::now();
        let refusal = worker.draw(&Request::new(DRAWING, Kind::Svg)).expect_err(script);
        assert_eq!(refusal.code, code, "{script}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{script}: {:?}", begin.elapsed());
    }
    let nobody = Worker::new("/nowhere/at/all", Vec::new());
    let refusal = nobody.draw(&Request::new(DRAWING, Kind::Svg)).expect_err("no program");
    assert_eq!(refusal.code, RefusalCode::Unavailable);
}

#[test]
fn a_large_source_is_fed_to_the_end() {
    // More than a pipe holds, both ways.
    let padding = "<!-- padding -->".repeat(1 << 18);
    let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 3'>{padding}</svg>");
    let mut request = Request::new(svg.as_bytes(), Kind::Svg);
    request.wanted.fit = photic_render::Fit::Longest(4000);
    let page = worker().draw(&request).expect("a page");
    assert_eq!((page.raster.width, page.raster.height), (4000, 3000));
}

//! A child that misbehaves is a refusal, within the time it was given.

use std::time::{Duration, Instant};

use photic_render::{Area, Fit, Kind, RefusalCode, Request, Worker, WorkerLimits, draw};

use crate::worker;

const DRAWING: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='9' height='9'/></svg>";

#[test]
fn a_child_draws_what_would_be_drawn_here() {
    let request = Request::new(DRAWING, Kind::Svg);
    let there = worker().draw(&request).expect("a page");
    assert_eq!(there, draw(&request).expect("a page"));
    assert_eq!((there.raster.width, there.raster.height), (512, 256));

    // Numbers arrive: the last bit may be another one, no pixel is.
    let mut request = request;
    for part in 1..40 {
        let (x, width) = (f64::from(part) / 7.3, f64::from(part) / 11.7);
        request.wanted.region = Some(Area { x, y: 0.1, width, height: 1.0 / 3.0 });
        request.wanted.fit = Fit::Longest(9);
        let there = worker().draw(&request).expect("a page");
        let here = draw(&request).expect("a page");
        assert_eq!(there.raster, here.raster, "{part}");
        let (there, here) = (there.to_page.map_point(9.0, 9.0), here.to_page.map_point(9.0, 9.0));
        assert!((there.0 - here.0).abs() + (there.1 - here.1).abs() < 1e-9, "{part}");
    }
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

/// A child that runs a script instead.
fn shell(script: &str, seconds: u64) -> Worker {
    let limits = WorkerLimits { time: Duration::from_secs(seconds), ..WorkerLimits::default() };
    Worker { limits, ..Worker::new("/bin/sh", vec!["-c".into(), script.into()]) }
}

#[test]
fn whatever_a_child_does_is_a_refusal() {
    let cases = [
        ("cat > /dev/null; echo hello", RefusalCode::Crashed),
        ("exit 0", RefusalCode::Crashed),
        ("kill -SEGV $$", RefusalCode::Crashed),
        ("kill -ABRT $$", RefusalCode::TooMuchMemory),
        ("kill -XCPU $$", RefusalCode::TooSlow),
        // As a system without memory does it.
        ("kill -KILL $$", RefusalCode::TooMuchMemory),
        ("exec yes", RefusalCode::Crashed),
        // It answers a little every second, and never to the end.
        ("while sleep 1; do printf x; done", RefusalCode::TooSlow),
        // It stops, and cannot be woken by a signal that it could refuse.
        ("kill -STOP $$", RefusalCode::TooSlow),
        ("exec sleep 600", RefusalCode::TooSlow),
        // It closes its output, and lives on.
        ("exec > /dev/null; exec sleep 600", RefusalCode::Crashed),
        // Its child holds the output open.
        ("sleep 600 & wait", RefusalCode::TooSlow),
    ];
    for (script, code) in cases {
        let begin = Instant::now();
        let refusal = shell(script, 3).draw(&Request::new(DRAWING, Kind::Svg)).expect_err(script);
        assert_eq!(refusal.code, code, "{script}");
        assert!(!refusal.says.is_empty() && !refusal.hint.is_empty(), "{script}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{script}: {:?}", begin.elapsed());
        // Nothing is left over that would disturb the next.
        assert!(worker().draw(&Request::new(DRAWING, Kind::Svg)).is_ok(), "after {script}");
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
    request.wanted.fit = Fit::Longest(4000);
    let page = worker().draw(&request).expect("a page");
    assert_eq!((page.raster.width, page.raster.height), (4000, 3000));
}

/// The answer of a child for a page of this size, without the pixels.
fn claim(width: u64, height: u64, to_page: &str) -> Vec<u8> {
    let header = format!(
        r#"{{"drawn":{{"width":{width},"height":{height},"alpha":false,"to_page":{to_page},"facts":
        {{"page":1,"pages":1,"size":[9,9],"left_out":[],"unlisted":0,"rows":[]}}}}}}"#
    );
    let length = u32::try_from(header.len()).expect("a short header");
    [&length.to_le_bytes(), header.as_bytes()].concat()
}

#[test]
fn a_child_that_lies_about_its_page_is_not_believed() {
    const HERE: &str = "[1.0,0.0,0.0,1.0,0.0,0.0]";
    let honest = [claim(2, 1, HERE), vec![7; 6]].concat();
    let cases = [
        ("honest", honest.clone(), true),
        ("too few pixels", honest[..honest.len() - 1].to_vec(), false),
        ("too many pixels", [honest.as_slice(), b"7"].concat(), false),
        ("a giant", [claim(1 << 31, 1 << 31, HERE), vec![7; 6]].concat(), false),
        ("out of range", [claim(1 << 40, 1, HERE), vec![7; 6]].concat(), false),
        ("nothing", claim(0, 0, HERE), false),
        ("flat", [claim(2, 1, "[0.0,0.0,0.0,0.0,0.0,0.0]"), vec![7; 6]].concat(), false),
        ("no number", [claim(2, 1, "[1e999,0,0,1,0,0]"), vec![7; 6]].concat(), false),
        ("a long header", vec![0xff; 64], false),
        ("deep JSON", [&[0, 0, 1, 0][..], &b"[".repeat(1 << 16)].concat(), false),
    ];
    let file = std::env::temp_dir().join(format!("photic-render-lie-{}", std::process::id()));
    for (name, answer, believed) in cases {
        std::fs::write(&file, answer).expect("the lie");
        let child = shell(&format!("cat > /dev/null; cat {}", file.display()), 60);
        match child.draw(&Request::new(DRAWING, Kind::Svg)) {
            Ok(page) => assert!(believed && page.raster.data == [7; 6], "{name}"),
            Err(refusal) => {
                assert!(!believed, "{name}: {refusal}");
                assert_eq!(refusal.code, RefusalCode::Crashed, "{name}");
            }
        }
    }
    std::fs::write(&file, honest).expect("the lie");
    let flood = shell(&format!("cat > /dev/null; cat {}; exec yes", file.display()), 60);
    let refusal = flood.draw(&Request::new(DRAWING, Kind::Svg)).expect_err("a flood");
    assert_eq!(refusal.code, RefusalCode::Crashed, "no more is read than a page can have");
    std::fs::remove_file(&file).expect("the lie goes");
}

/// The children of this process, dead ones included, and its open files.
#[cfg(target_os = "linux")]
fn belongings() -> (usize, usize) {
    let tasks = std::fs::read_dir("/proc/self/task").expect("tasks").flatten();
    let children = tasks.map(|task| {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        list.split_whitespace().count()
    });
    (children.sum(), std::fs::read_dir("/proc/self/fd").expect("files").count())
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_at_once_leave_nothing_behind() {
    let before = belongings();
    let pages = std::thread::scope(|scope| {
        let one = |number: usize| {
            let request = Request::new(DRAWING, Kind::Svg);
            match number % 5 {
                0 => shell("exec sleep 600", 2).draw(&request),
                1 => shell("sleep 600 > /dev/null & kill -SEGV $$", 60).draw(&request),
                _ => worker().draw(&request),
            }
        };
        let running: Vec<_> = (0..100).map(|number| scope.spawn(move || one(number))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    let expected = draw(&Request::new(DRAWING, Kind::Svg)).expect("a page");
    for (number, page) in pages.into_iter().enumerate() {
        match number % 5 {
            0 => assert_eq!(page.expect_err("a hang").code, RefusalCode::TooSlow),
            1 => assert_eq!(page.expect_err("a crash").code, RefusalCode::Crashed),
            _ => assert_eq!(page.expect("a page"), expected),
        }
    }
    // Other tests of this process may have children and files of their own for a while.
    let left = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        belongings()
    });
    let mut left = left.skip_while(|now| now.0 > before.0 || now.1 > before.1);
    assert!(left.next().is_some(), "{before:?} before, {:?} after", belongings());
}

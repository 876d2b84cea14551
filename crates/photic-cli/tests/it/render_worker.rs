//! The binary as its own renderer.

use photic_render::{Kind, Request, Worker};

use crate::{run, stdout};

#[test]
fn the_binary_draws_as_a_worker() {
    let worker = Worker::new(env!("CARGO_BIN_EXE_photic"), vec!["render-worker".into()]);
    let svg =
        b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 3'><path d='M0 0h4v3z'/></svg>";
    let page = worker.draw(&Request::new(svg, Kind::Svg)).unwrap();
    assert_eq!((page.raster.width, page.raster.height), (512, 384));
}

#[test]
fn people_are_not_told_about_it() {
    assert!(!stdout(&run(&["--help"])).contains("render-worker"));
    assert!(!stdout(&run(&["man"])).contains("render"));
}

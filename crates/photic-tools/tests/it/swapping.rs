//! Attacks that swap files while the tool opens them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::world::{SECRET, World, read};

const INSIDE: &str = "fine, and inside\n";

/// Opens `source` for a second while `flip` swaps it. Returns how often the file inside was read.
fn raced(world: &World, source: &str, flip: impl Fn() + Send + Sync) -> (usize, usize) {
    let done = AtomicBool::new(false);
    let tools = world.tools();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                flip();
            }
        });
        let end = Instant::now() + Duration::from_secs(1);
        let (mut inside, mut refused) = (0, 0);
        while Instant::now() < end {
            match read(&tools, source) {
                Ok(reading) => {
                    assert_ne!(reading.text, SECRET, "a swap got out");
                    assert_eq!(reading.text, INSIDE);
                    inside += 1;
                }
                Err(refusal) => {
                    assert!(!refusal.says.contains(SECRET));
                    refused += 1;
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        (inside, refused)
    })
}

/// Replaces a path by a link, atomically.
fn point(link: &Path, to: &Path) {
    let fresh = link.with_extension("fresh");
    let _ = std::fs::remove_file(&fresh);
    symlink(to, &fresh).unwrap();
    std::fs::rename(&fresh, link).unwrap();
}

#[test]
fn a_file_that_becomes_a_link_is_never_followed_out() {
    let world = World::new();
    let inside = world.write("inside.txt", INSIDE);
    let (link, secret) = (world.root().join("flips"), world.outside().join("secret.txt"));
    point(&link, &inside);
    let (inside, refused) = raced(&world, "flips", || {
        point(&link, &secret);
        point(&link, &world.root().join("inside.txt"));
    });
    assert!(inside > 0 && refused > 0, "the race was not run: {inside} inside, {refused} refused");
}

#[test]
fn a_folder_that_becomes_a_link_is_never_followed_out() {
    let world = World::new();
    let folder = world.root().join("turning");
    let aside = world.root().join("aside");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("secret.txt"), INSIDE).unwrap();
    let link = world.root().join("link");
    symlink(world.outside(), &link).unwrap();
    let (inside, refused) = raced(&world, "turning/secret.txt", || {
        std::fs::rename(&folder, &aside).unwrap();
        std::fs::rename(&link, &folder).unwrap();
        std::fs::rename(&folder, &link).unwrap();
        std::fs::rename(&aside, &folder).unwrap();
    });
    assert!(inside > 0 && refused > 0, "the race was not run: {inside} inside, {refused} refused");
}

//! The local store behind the tools: handles, answers, and removed originals.

use std::sync::Arc;

use photic_store::{FileBlobs, Tenant};
use photic_tools::RefusalCode::Absent;
use photic_tools::{LocalOriginals, LookupError, Originals as _, Tools, ViewArguments};

use crate::world::{World, code, looking, picture, view, wait};

fn files(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn a_handle_outlives_the_process_and_a_thousand_views_are_one_blob() {
    let world = World::new();
    let store = world.outside().join("store");
    let tools = || {
        let kept = LocalOriginals::open(&store, Tenant::local()).unwrap();
        Tools::builder().root(world.root()).originals(Arc::new(kept)).build().unwrap()
    };
    let first = tools();
    let handle = view(&first, "picture.png").unwrap().reference.unwrap();
    let small = ViewArguments { max_edge: Some(16), ..looking("picture.png") };
    for _ in 0..1000 {
        assert_eq!(wait(first.view(&small)).unwrap().reference.as_ref(), Some(&handle));
    }
    assert_eq!(files(&store.join("blobs")), 1, "one blob");
    drop(first);
    std::fs::remove_file(world.root().join("picture.png")).unwrap();
    let region = Some("10,10,50,50".parse().unwrap());
    let zoom = wait(tools().view(&ViewArguments { region, ..looking(&handle) })).unwrap();
    assert_eq!((zoom.source_size, zoom.reference), ((320, 240), Some(handle)));
}

#[test]
fn what_was_dropped_is_absent_with_its_reason() {
    let world = World::new();
    let store = world.outside().join("store");
    let kept = Arc::new(LocalOriginals::open(&store, Tenant::local()).unwrap());
    let tools =
        Tools::builder().root(world.root()).originals(Arc::clone(&kept) as _).build().unwrap();
    let handle = view(&tools, "picture.png").unwrap().reference.unwrap();
    let blobs = FileBlobs::open(store.join("blobs")).unwrap();
    let id = photic_store::BlobId::of(&picture(320, 240));
    let later = std::time::SystemTime::now() + std::time::Duration::from_hours(1);
    assert!(blobs.remove(&id, later).unwrap());
    let refusal = view(&tools, &handle).unwrap_err();
    assert_eq!(refusal.code, Absent);
    assert!(refusal.says.contains("was dropped"), "{}", refusal.says);
    // Viewing the file again restores it, under its old handle.
    assert_eq!(view(&tools, "picture.png").unwrap().reference, Some(handle.clone()));
    assert!(view(&tools, &handle).is_ok());
    assert_eq!(code(view(&tools, "img_0000000000000000")), Absent);
}

#[test]
fn a_handle_and_an_answer_mean_nothing_to_another_tenant() {
    let world = World::new();
    let store = world.outside().join("store");
    let [one, two] =
        ["one", "two"].map(|name| LocalOriginals::open(&store, Tenant::new(name)).unwrap());
    let handle = one.put(&picture(64, 64), "image/png").unwrap();
    assert!(one.get(&handle).is_ok());
    assert!(matches!(two.get(&handle), Err(LookupError::Absent(_))));
    one.keep_answer("key", "words").unwrap();
    assert_eq!(one.answer("key").as_deref(), Some("words"));
    assert_eq!(two.answer("key"), None);
    one.keep_answer("../../key", "words").unwrap();
    assert_eq!(one.answer("../../key"), None);
    one.keep_answer("key", "other words").unwrap();
    assert_eq!(one.answer("key").as_deref(), Some("other words"));
    assert_eq!(files(&store.join("answers")), 1, "nothing unfinished is left");
}

//! `list`: the files that may be read, and names near to one that does not exist.

use std::os::unix::fs::symlink;

use photic_tools::RefusalCode::{Absent, BadArguments, OutsideRoots};
use photic_tools::{ListArguments, Listing, Refusal, Tools};

use crate::world::{SECRET, World, code, picture, read, view, wait};

fn list(tools: &Tools, folder: &str) -> Result<Listing, Refusal> {
    wait(tools.list(&ListArguments { folder: Some(folder.to_owned()), name: None }))
}

fn all(tools: &Tools) -> Listing {
    wait(tools.list(&ListArguments::default())).unwrap()
}

fn named(tools: &Tools, name: &str) -> Listing {
    wait(tools.list(&ListArguments { folder: None, name: Some(name.to_owned()) })).unwrap()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.path.as_str()).collect()
}

#[test]
fn entries_come_by_name_with_type_and_size_and_pictures_with_their_pixels() {
    let world = World::new();
    world.write("empty", "");
    let listing = all(&world.tools());
    assert_eq!(paths(&listing), ["empty", "folder/", "inside.txt", "picture.png"]);
    let facts: Vec<_> =
        listing.entries.iter().map(|one| (one.kind, one.byte_size, one.size)).collect();
    let bytes = picture(320, 240).len() as u64;
    let expected = [
        ("empty", Some(0), None),
        ("folder", None, None),
        ("text", Some(14), None),
        ("PNG", Some(bytes), Some((320, 240))),
    ];
    assert_eq!(facts, expected);
    let words = listing.words();
    let root = world.root();
    assert!(words.starts_with(&format!("{}: 4 entries\n", root.display())), "{words}");
    assert!(words.contains("\npicture.png  PNG 320x240, "), "{words}");
    assert!(words.contains("\nfolder/  folder\n"), "{words}");
    assert_eq!(all(&world.tools()), listing, "the order never changes");
}

/// A path out of a listing is what the other tools take, in every root.
#[test]
fn listed_paths_can_be_passed_as_they_are() {
    let world = World::new();
    let both = Tools::builder().root(world.root()).root(world.outside()).build().unwrap();
    let listing = all(&both);
    let secret = world.outside().join("secret.txt");
    assert!(paths(&listing).contains(&secret.to_str().unwrap()), "{:?}", paths(&listing));
    assert_eq!(both.roots(), [world.root().to_str().unwrap(), world.outside().to_str().unwrap()]);
    for entry in &listing.entries {
        match entry.kind {
            "folder" => assert!(list(&both, &entry.path).is_ok(), "{}", entry.path),
            "PNG" => assert!(view(&both, &entry.path).is_ok(), "{}", entry.path),
            _ => assert!(read(&both, &entry.path).is_ok(), "{}", entry.path),
        }
    }
    let absolute = world.root().join("folder");
    let below = list(&both, absolute.to_str().unwrap()).unwrap();
    assert!(paths(&below).iter().all(|path| path.starts_with(absolute.to_str().unwrap())));
    assert_eq!(paths(&list(&both, "folder").unwrap()), ["folder/deep.txt", "folder/deeper/"]);
    // A file is listed as itself.
    assert_eq!(paths(&list(&both, "inside.txt").unwrap()), ["inside.txt"]);
}

#[test]
fn a_name_is_looked_for_in_all_folders_below() {
    let world = World::new();
    world.write("folder/deeper/Chart-7.PNG", picture(64, 48));
    std::fs::create_dir(world.root().join(".hidden")).unwrap();
    world.write(".hidden/chart.png", picture(64, 48));
    let tools = world.tools();
    assert_eq!(paths(&named(&tools, "chart")), ["folder/deeper/Chart-7.PNG"]);
    assert_eq!(paths(&named(&tools, "*.png")), ["folder/deeper/Chart-7.PNG", "picture.png"]);
    assert_eq!(named(&tools, "nothing").words().lines().count(), 1);
    let slash = ListArguments { folder: None, name: Some("folder/chart".to_owned()) };
    assert_eq!(code(wait(tools.list(&slash))), BadArguments);
}

#[test]
fn a_long_folder_is_cut_and_says_so() {
    let world = World::new();
    for number in 0..230 {
        world.write(&format!("folder/frame-{number:04}.txt"), "x");
    }
    let tools = world.tools();
    let listing = list(&tools, "folder").unwrap();
    assert_eq!((listing.entries.len(), listing.total), (200, 232));
    let words = listing.words();
    assert!(words.contains("200 of 232 entries; narrow it with `name`"), "{words}");
    assert_eq!(named(&tools, "frame-02").entries.len(), 30);
}

#[test]
fn nothing_outside_is_listed_and_links_that_lead_out_tell_nothing() {
    let world = World::new();
    let (root, out) = (world.root(), world.outside());
    symlink(&out, root.join("to-outside")).unwrap();
    symlink("../outside/secret.txt", root.join("to-secret")).unwrap();
    symlink("../outside/nothing", root.join("to-nothing")).unwrap();
    symlink("folder", root.join("to-folder")).unwrap();
    symlink(root.join("folder"), root.join("to-folder-absolute")).unwrap();
    let tools = world.tools();
    let listing = all(&tools);
    let kind = |path: &str| listing.entries.iter().find(|one| one.path == path).unwrap().kind;
    assert_eq!(kind("to-secret"), kind("to-nothing"), "existence outside is not told");
    assert_eq!(kind("to-outside"), kind("to-nothing"));
    assert_eq!(kind("to-folder/"), "folder");
    assert!(!listing.words().contains(SECRET));
    let absolute = out.to_str().unwrap();
    for outside in ["..", "../outside", "to-outside", "folder/../..", absolute, "/etc", "/"] {
        assert_eq!(code(list(&tools, outside)), OutsideRoots, "{outside}");
    }
    assert!(list(&tools, "to-folder-absolute").is_ok());
    // A search enters no link, so it ends in a loop, too.
    symlink(".", root.join("loop")).unwrap();
    assert_eq!(paths(&named(&tools, "secret")), ["to-secret"]);
    let none = Tools::builder().build().unwrap();
    assert_eq!(code(list(&none, "folder")), OutsideRoots);
    assert!(all(&none).entries.is_empty());
}

#[test]
fn a_name_that_does_not_exist_is_answered_with_those_near_to_it() {
    let world = World::new();
    world.write("orders.png", picture(64, 48));
    world.write("folder/deeper/invoice.png", picture(64, 48));
    let tools = world.tools();
    for (asked, candidates) in [
        ("order.png", &["orders.png"][..]),
        ("ORDERS.png", &["orders.png"]),
        ("orders.jpg", &["orders.png"]),
        // In another folder, also where the folder does not exist.
        ("invoice.png", &["folder/deeper/invoice.png"]),
        ("no/such/folder/invoice.png", &["folder/deeper/invoice.png"]),
        ("folder/inside.txt", &["inside.txt"]),
        ("something else.png", &[]),
    ] {
        let refusal = view(&tools, asked).unwrap_err();
        assert_eq!((refusal.code, refusal.candidates.as_slice()), (Absent, &owned(candidates)[..]));
        for candidate in &refusal.candidates {
            let listed = list(&tools, candidate).unwrap();
            assert_eq!(paths(&listed), [candidate.as_str()], "a candidate can be passed");
        }
    }
    // An absolute path is answered with absolute ones.
    let absolute = world.root().join("order.png");
    let refusal = view(&tools, absolute.to_str().unwrap()).unwrap_err();
    assert_eq!(refusal.candidates, [world.root().join("orders.png").to_str().unwrap()]);
    let refusal = list(&tools, "foldr").unwrap_err();
    assert_eq!(refusal.candidates, ["folder"]);
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn candidates_are_few_and_never_from_outside() {
    let world = World::new();
    for number in 0..40 {
        world.write(&format!("folder/secret-{number:02}.txt"), "x");
    }
    std::fs::write(world.outside().join("plan.txt"), "x").unwrap();
    let tools = world.tools();
    let refusal = read(&tools, "folder/secret-99.txt").unwrap_err();
    assert_eq!(refusal.candidates.len(), 5, "{:?}", refusal.candidates);
    assert!(read(&tools, "plans.txt").unwrap_err().candidates.is_empty());
    assert!(read(&tools, "../outside/plans.txt").unwrap_err().candidates.is_empty());
}

//! Names with lost spelling: the only match, or the candidates.

use photic_tools::RefusalCode::{Absent, Ambiguous, OutsideRoots};

use crate::world::{World, code, read};

/// Names on disk and in a conversation.
const MEANT: &[(&str, &str)] = &[
    // macOS puts a narrow no-break space before AM and PM.
    ("Screenshot 2026-11-15 at 3.14.15\u{202f}PM.txt", "Screenshot 2026-11-15 at 3.14.15 PM.txt"),
    ("Screenshot 2026-11-15 at 9.00.00\u{202f}AM.txt", "Screenshot 2026-11-15 at 9.00.00 AM.txt"),
    ("no\u{a0}break.txt", "no break.txt"),
    ("plain space.txt", "plain\u{202f}space.txt"),
    // Decomposed and composed accents.
    ("Cafe\u{301}.txt", "Caf\u{e9}.txt"),
    ("Z\u{fc}rich.txt", "Zu\u{308}rich.txt"),
    // Quotes.
    ("Anna\u{2019}s notes.txt", "Anna's notes.txt"),
    ("\u{201c}final\u{201d}.txt", "\"final\".txt"),
    ("it's.txt", "it\u{2019}s.txt"),
    // Shell escapes.
    ("with two spaces.txt", "with\\ two\\ spaces.txt"),
    ("paren (1).txt", "paren\\ \\(1\\).txt"),
    ("Anna\u{2019}s other notes.txt", "Anna\\'s\\ other\\ notes.txt"),
];

#[test]
fn the_only_file_that_can_be_meant_is_read() {
    let world = World::new();
    for (name, _) in MEANT {
        world.write(name, name);
    }
    let tools = world.tools();
    for (name, asked) in MEANT {
        assert_ne!(name, asked);
        assert_eq!(read(&tools, asked).unwrap().text, *name, "{asked}");
        let absolute = world.root().join(asked);
        assert_eq!(read(&tools, absolute.to_str().unwrap()).unwrap().text, *name);
    }
}

#[test]
fn folders_on_the_way_are_found_alike() {
    let world = World::new();
    std::fs::create_dir(world.root().join("Cafe\u{301} \u{201c}x\u{201d}")).unwrap();
    world.write("Cafe\u{301} \u{201c}x\u{201d}/at 3\u{202f}PM.txt", "found\n");
    let tools = world.tools();
    assert_eq!(read(&tools, "Caf\u{e9} \"x\"/at 3 PM.txt").unwrap().text, "found\n");
}

#[test]
fn an_exact_name_wins() {
    let world = World::new();
    world.write("at 3 PM.txt", "plain\n");
    world.write("at 3\u{202f}PM.txt", "narrow\n");
    world.write("at\\ 3\\ PM.txt", "backslashes\n");
    let tools = world.tools();
    assert_eq!(read(&tools, "at 3 PM.txt").unwrap().text, "plain\n");
    assert_eq!(read(&tools, "at 3\u{202f}PM.txt").unwrap().text, "narrow\n");
    assert_eq!(read(&tools, "at\\ 3\\ PM.txt").unwrap().text, "backslashes\n");
}

#[test]
fn two_files_that_could_be_meant_are_named_and_neither_is_read() {
    let world = World::new();
    world.write("folder/at 3\u{202f}PM.txt", "narrow\n");
    world.write("folder/at 3\u{a0}PM.txt", "no-break\n");
    let tools = world.tools();
    let refusal = read(&tools, "folder/at 3 PM.txt").unwrap_err();
    assert_eq!(refusal.code, Ambiguous);
    assert_eq!(refusal.candidates, ["folder/at 3\u{a0}PM.txt", "folder/at 3\u{202f}PM.txt"]);
    // Candidates can be passed back.
    for candidate in &refusal.candidates {
        assert!(read(&tools, candidate).is_ok(), "{candidate}");
    }
    let absolute = world.root().join("folder/at 3 PM.txt");
    let refusal = read(&tools, absolute.to_str().unwrap()).unwrap_err();
    assert!(refusal.candidates.iter().all(|candidate| read(&tools, candidate).is_ok()));
}

#[test]
fn other_names_are_other_files() {
    let world = World::new();
    world.write("Straße.txt", "x");
    world.write("\u{fb01}le.txt", "a ligature");
    let tools = world.tools();
    for other in ["strasse.txt", "STRASSE.txt", "file.txt", "insidetxt", "inside txt"] {
        assert_eq!(code(read(&tools, other)), Absent, "{other}");
    }
}

#[test]
fn a_name_that_is_meant_but_leads_out_is_refused() {
    let world = World::new();
    let secret = world.outside().join("secret.txt");
    std::os::unix::fs::symlink(secret, world.root().join("out\u{202f}here")).unwrap();
    assert_eq!(code(read(&world.tools(), "out here")), OutsideRoots);
}

//! Tests of lessons: storage, expiry, bounds and damaged files.

use std::fs;
use std::path::PathBuf;

use photic::profile::Fact;
use photic::{Profile, Wire};

use super::entry::{MAX_NAME_LENGTH, MAX_OF_ONE, MAX_REFUSED, add};
use super::learned::DAY;
use super::*;

/// A temporary directory of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("photic-learned-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("deep/learned.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn entry(host: &str, lesson: Lesson) -> Entry {
    let evidence = Evidence::now(400, "image too large");
    let (host, model, teacher) = (host.to_owned(), "m".to_owned(), Identity::Nobody);
    Entry { host, model, wire: None, lesson, teacher, evidence }
}

fn open(folder: &Folder) -> Learned {
    let (learned, warning) = Learned::open(Some(folder.file()), 30);
    assert_eq!(warning, None);
    learned
}

fn lessons(learned: &Learned, host: &str) -> Vec<Lesson> {
    lessons_of(learned, host, &Identity::Nobody)
}

fn lessons_of(learned: &Learned, host: &str, caller: &Identity) -> Vec<Lesson> {
    let known = learned.of(host, Some("m"), caller, &[]);
    known.map(|known| known.entries.iter().map(|e| e.lesson.clone()).collect()).unwrap_or_default()
}

#[test]
fn what_was_learned_is_known_after_a_restart() {
    let folder = Folder::new("restart");
    let learned = open(&folder);
    assert!(lessons(&learned, "h").is_empty());
    learned.remember(&[entry("h", Lesson::Edge { most: 2000 })]);
    learned.remember(&[entry("h", Lesson::Edge { most: 1000 }), entry("h", Lesson::NoDetail)]);
    learned.remember(&[entry("h", Lesson::Edge { most: 3000 })]);
    let expected = [Lesson::Edge { most: 1000 }, Lesson::NoDetail];
    assert_eq!(lessons(&learned, "h"), expected);
    assert!(lessons(&learned, "other").is_empty());
    assert_eq!(lessons(&open(&folder), "h"), expected);
}

#[test]
fn gateways_share_a_file_and_what_is_forgotten_stays_forgotten() {
    let folder = Folder::new("share");
    let (one, other) = (open(&folder), open(&folder));
    one.remember(&[entry("a", Lesson::NoDetail), entry("b", Lesson::NoDetail)]);
    other.remember(&[entry("c", Lesson::NoDetail)]);
    assert_eq!(read(&folder.file()).unwrap().len(), 3);
    assert_eq!(forget(&folder.file(), "a", Some("x")).unwrap(), 0);
    assert_eq!(forget(&folder.file(), "a", Some("m")).unwrap(), 1);
    one.remember(&[entry("d", Lesson::NoDetail)]);
    assert!(lessons(&one, "a").is_empty());
    assert!(!lessons(&one, "c").is_empty());
}

#[test]
fn lessons_expire() {
    let folder = Folder::new("expiry");
    let learned = open(&folder);
    let mut old = entry("h", Lesson::Images { most: 5 });
    old.evidence.at -= 29 * DAY;
    learned.remember(&[old, entry("h", Lesson::NoDetail)]);
    assert_eq!(lessons(&learned, "h").len(), 2);
    // For a running gateway, and for one that starts.
    let later = evidence::now() + 2 * DAY;
    assert_eq!(learned.of_at("h", Some("m"), &Identity::Nobody, later).unwrap().entries.len(), 1);
    assert!(learned.of_at("h", Some("m"), &Identity::Nobody, later + 30 * DAY).is_none());
    let mut entries = read(&folder.file()).unwrap();
    entries[0].evidence.at -= 30 * DAY;
    file::change(&folder.file(), |held| held.clone_from(&entries)).unwrap();
    assert_eq!(lessons(&open(&folder), "h").len(), 1);
}

#[test]
fn a_file_that_cannot_be_read_is_set_aside_and_said_so() {
    let folder = Folder::new("corrupt");
    open(&folder).remember(&[entry("h", Lesson::NoDetail)]);
    let whole = fs::read(folder.file()).unwrap();
    for (number, broken) in
        [&whole[..whole.len() / 2], b"\0\0\0", b"{\"version\":9}"].iter().enumerate()
    {
        fs::write(folder.file(), broken).unwrap();
        let (learned, warning) = Learned::open(Some(folder.file()), 30);
        let aside = folder.file().with_extension(format!("unreadable-{}", number + 1));
        assert!(warning.unwrap().contains(&*aside.display().to_string()));
        assert_eq!(fs::read(aside).unwrap(), *broken);
        learned.remember(&[entry("h", Lesson::NoDetail)]);
        assert_eq!(lessons(&open(&folder), "h"), [Lesson::NoDetail]);
    }
    // An unknown entry of another version does not lose the others.
    let text = String::from_utf8(whole).unwrap();
    let strange = text.replace("\"entries\": [", "\"entries\": [{\"kind\": \"new\"},");
    fs::write(folder.file(), strange).unwrap();
    assert_eq!(lessons(&open(&folder), "h"), [Lesson::NoDetail]);
}

#[test]
fn a_writer_that_was_killed_leaves_the_old_file() {
    let folder = Folder::new("killed");
    open(&folder).remember(&[entry("h", Lesson::NoDetail)]);
    fs::write(folder.file().with_extension("new"), "{\"version\":1,\"entr").unwrap();
    let learned = open(&folder);
    assert_eq!(lessons(&learned, "h"), [Lesson::NoDetail]);
    learned.remember(&[entry("h", Lesson::NoMarks)]);
    assert_eq!(lessons(&open(&folder), "h").len(), 2);
}

#[test]
fn without_a_file_lessons_last_until_the_gateway_stops() {
    let (learned, warning) = Learned::open(None, 30);
    learned.remember(&[entry("h", Lesson::NoDetail)]);
    assert_eq!((warning, lessons(&learned, "h")), (None, vec![Lesson::NoDetail]));
    let folder = Folder::new("nowhere");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("deep"), "a file, no folder").unwrap();
    let (learned, warning) = Learned::open(Some(folder.file()), 30);
    assert!(warning.unwrap().contains("cannot be written"));
    learned.remember(&[entry("h", Lesson::NoDetail)]);
    assert_eq!(lessons(&learned, "h"), [Lesson::NoDetail]);
}

#[test]
fn it_is_bounded() {
    let folder = Folder::new("bound");
    let learned = open(&folder);
    let quarantine = |number: u64| Lesson::Quarantine { digest: number.to_string(), bytes: number };
    let many: Vec<Entry> = (0..2000)
        .map(|number| Entry { model: format!("m{number}"), ..entry("h", Lesson::NoDetail) })
        .chain((0..100).map(|number| entry("h", quarantine(number))))
        .collect();
    learned.remember(&many);
    assert_eq!(lessons(&learned, "h").len(), MAX_REFUSED);
    assert_eq!(read(&folder.file()).unwrap().len(), MAX_OF_ONE);
    let long = Entry { model: "m".repeat(MAX_NAME_LENGTH + 1), ..entry("h", Lesson::NoDetail) };
    learned.remember(std::slice::from_ref(&long));
    assert!(learned.of("h", Some(&long.model), &Identity::Nobody, &[]).is_none());
}

#[test]
fn what_is_tried_is_not_remembered() {
    let (learned, _) = Learned::open(None, 30);
    let tried = [entry("h", Lesson::Images { most: 1 })];
    assert_eq!(learned.of("h", Some("m"), &Identity::Nobody, &tried).unwrap().entries, tried);
    assert!(learned.of("h", Some("m"), &Identity::Nobody, &[]).is_none());
}

#[test]
fn many_learn_at_once_and_nothing_is_lost() {
    for place in [Some(Folder::new("many")), None] {
        let path = place.as_ref().map(Folder::file);
        let each = if path.is_some() { 2 } else { 50 };
        let (learned, _) = Learned::open(path, 30);
        let host = |thread: u32, number: u32| format!("h{thread}-{number}");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let learned = &learned;
                scope.spawn(move || {
                    for number in 0..each {
                        learned.remember(&[entry(&host(thread, number), Lesson::NoDetail)]);
                    }
                });
            }
        });
        for (thread, number) in (0..8).flat_map(|thread| (0..each).map(move |n| (thread, n))) {
            assert!(!lessons(&learned, &host(thread, number)).is_empty());
        }
    }
}

#[test]
fn of_two_that_contradict_each_other_the_newer_is_kept() {
    let of = photic::profile::MediaKind::Image;
    let at = |at, lesson| Entry { evidence: Evidence::probed(at, "probe"), ..entry("h", lesson) };
    let on = |wire, entry: Entry| Entry { wire: Some(wire), ..entry };
    let (yes, no) = (Lesson::ToolMedia { of }, Lesson::NoToolMedia { of });
    for (first, then, left) in [
        (at(1, yes.clone()), at(2, no.clone()), vec![no.clone()]),
        (at(2, yes.clone()), at(1, no.clone()), vec![yes.clone()]),
        (at(1, no.clone()), on(Wire::Anthropic, at(2, yes.clone())), vec![yes.clone()]),
    ] {
        let mut entries = vec![first];
        add(&mut entries, then);
        let lessons: Vec<Lesson> = entries.into_iter().map(|entry| entry.lesson).collect();
        assert_eq!(lessons, left);
    }
    // On different wires both can be true.
    let mut entries = vec![on(Wire::OpenAiChat, at(1, no))];
    add(&mut entries, on(Wire::Anthropic, at(2, yes)));
    assert_eq!(entries.len(), 2);
}

#[test]
fn what_a_probe_taught_holds_on_its_wire_and_gives_way_to_rejections() {
    use photic::profile::{Capability, MediaKind, Placement};
    let folder = Folder::new("taught");
    let of = MediaKind::Image;
    let on_chat = |lesson| Entry {
        wire: Some(Wire::OpenAiChat),
        evidence: Evidence::probed(evidence::now(), "probe: tool result sees"),
        ..entry("h", lesson)
    };
    teach(&folder.file(), &[on_chat(Lesson::ToolMedia { of }), on_chat(Lesson::Sees { of })])
        .unwrap();
    let entries = read(&folder.file()).unwrap();
    let mut chat = Profile::generic(Wire::OpenAiChat);
    assert_eq!(chat.placement.image, Placement::UserAfterTools);
    tighten(&mut chat, &entries);
    assert_eq!((chat.placement.image, chat.sight.images), (Placement::Native, Capability::Yes));
    let source = |fact: &Fact| fact.profile == "learned" && fact.source.starts_with("probe: ");
    assert!(chat.provenance().iter().any(source));
    let mut other = Profile::generic(Wire::OpenAiResponses);
    let before = other.clone();
    tighten(&mut other, &entries);
    assert_eq!(other, before);
    // A later rejection takes precedence.
    open(&folder).remember(&[entry("h", Lesson::NoToolMedia { of })]);
    let mut chat = Profile::generic(Wire::OpenAiChat);
    tighten(&mut chat, &read(&folder.file()).unwrap());
    assert_eq!(chat.placement.image, Placement::UserAfterTools);
}

//! Tests: which callers a lesson applies to, and that no caller evicts the lessons of others.

use photic_store::Tenant;

use super::entry::{MAX_ENTRIES, MAX_OF_ONE, bound};
use super::*;

fn tenant(name: &str) -> Identity {
    Identity::Tenant(Tenant::new(name))
}

fn entry(teacher: &Identity, lesson: Lesson) -> Entry {
    Entry {
        host: "h".to_owned(),
        model: "m".to_owned(),
        wire: None,
        lesson,
        teacher: teacher.clone(),
        evidence: Evidence::now(400, "no"),
    }
}

fn blind() -> Lesson {
    Lesson::Blind { of: photic::profile::MediaKind::Image }
}

fn known(learned: &Learned, caller: &Identity) -> Vec<Lesson> {
    let known = learned.of("h", Some("m"), caller, &[]);
    known.map(|known| known.entries.iter().map(|e| e.lesson.clone()).collect()).unwrap_or_default()
}

#[test]
fn a_lesson_holds_for_its_teacher_and_for_others_when_three_agree() {
    let key = |number| Identity::Key([number; 16]);
    for teachers in [[tenant("a"), tenant("b"), tenant("c")], [key(1), key(2), key(3)]] {
        let (learned, _) = Learned::open(None, 30);
        let other = tenant("other");
        for (number, teacher) in teachers.iter().enumerate() {
            assert!(known(&learned, &other).is_empty(), "{number}");
            assert!(known(&learned, teacher).is_empty());
            learned.remember(&[entry(teacher, blind())]);
            // A teacher counts once, however often it is taught.
            learned.remember(&[entry(teacher, blind())]);
            assert_eq!(known(&learned, teacher), [blind()]);
        }
        assert_eq!(known(&learned, &other), [blind()]);
        assert_eq!(known(&learned, &Identity::Nobody), [blind()]);
    }
}

#[test]
fn callers_without_a_key_are_one_and_teach_no_others() {
    let (learned, _) = Learned::open(None, 30);
    for _ in 0..5 {
        learned.remember(&[entry(&Identity::Nobody, blind())]);
    }
    assert_eq!(known(&learned, &Identity::Nobody), [blind()]);
    assert!(known(&learned, &tenant("a")).is_empty());
    // Two tenants and one key do not agree either.
    for teacher in [tenant("a"), tenant("b"), Identity::Key([1; 16])] {
        learned.remember(&[entry(&teacher, blind())]);
    }
    assert!(known(&learned, &tenant("other")).is_empty());
}

#[test]
fn the_limit_that_three_teachers_agree_on_applies() {
    let (learned, _) = Learned::open(None, 30);
    for (name, most) in [("evil", 1), ("a", 2000), ("b", 1500), ("c", 3000)] {
        learned.remember(&[entry(&tenant(name), Lesson::Edge { most })]);
    }
    assert_eq!(known(&learned, &tenant("other")), [Lesson::Edge { most: 2000 }]);
    assert_eq!(known(&learned, &tenant("evil")), [Lesson::Edge { most: 1 }]);
    assert_eq!(known(&learned, &tenant("c")), [Lesson::Edge { most: 2000 }]);
}

#[test]
fn one_teacher_does_not_undo_what_the_operator_taught_others() {
    let of = photic::profile::MediaKind::Image;
    let (learned, _) = Learned::open(None, 30);
    let mut proved = entry(&Identity::Operator, Lesson::Sees { of });
    proved.evidence.at -= 60;
    learned.remember(&[proved]);
    learned.remember(&[entry(&tenant("evil"), blind())]);
    assert_eq!(known(&learned, &tenant("other")), [Lesson::Sees { of }]);
    assert_eq!(known(&learned, &tenant("evil")), [blind()]);
    for name in ["a", "b"] {
        learned.remember(&[entry(&tenant(name), blind())]);
    }
    assert_eq!(known(&learned, &tenant("other")), [blind()]);
}

#[test]
fn the_teacher_with_the_most_lessons_loses_its_own() {
    let quarantine = |number: u64| Lesson::Quarantine { digest: number.to_string(), bytes: number };
    let mut entries = vec![entry(&tenant("good"), quarantine(0))];
    entries.push(entry(&Identity::Operator, blind()));
    for teacher in 0..10 {
        for number in 0..400 {
            let lesson = entry(&tenant(&format!("evil{teacher}")), Lesson::NoDetail);
            entries.push(Entry { model: format!("m{number}"), ..lesson });
        }
    }
    bound(&mut entries);
    assert_eq!(entries.len(), MAX_ENTRIES);
    for stays in [tenant("good"), Identity::Operator] {
        assert!(entries.iter().any(|entry| entry.teacher == stays), "{stays}");
    }
    let of_one = entries.iter().filter(|entry| entry.teacher == tenant("evil0")).count();
    assert!(of_one <= MAX_OF_ONE);
}

#[test]
fn a_file_that_names_no_teachers_helps_only_with_what_was_probed() {
    let old = |status: u16, kind: &str| {
        format!(
            "{{\"host\":\"h\",\"model\":\"m\",\"lesson\":{{\"kind\":\"{kind}\"}},\"evidence\":{{\"at\":1900000000,\"status\":{status},\"said\":\"\"}}}}"
        )
    };
    let (refused, probed) = (old(400, "no_detail"), old(0, "no_marks"));
    let text = format!("{{\"version\":1,\"entries\":[{refused},{probed}]}}");
    let entries = file::parse(text.as_bytes()).unwrap();
    let left: Vec<(&Identity, &Lesson)> =
        entries.iter().map(|entry| (&entry.teacher, &entry.lesson)).collect();
    assert_eq!(left, [(&Identity::Operator, &Lesson::NoMarks)]);
}

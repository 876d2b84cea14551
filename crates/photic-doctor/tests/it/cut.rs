//! Sessions whose last line was cut off, sessions whose media were moved out, and models of other
//! makers.

use std::path::{Path, PathBuf};

use photic_doctor::{
    Diagnosis, DiagnosisTarget, SessionFormat, diagnose, externalize, repair, restore,
};
use photic_store::FileBlobs;
use photic_testkit::image;

use crate::sessions::{Folder, Step, write};

const LINES: [SessionFormat; 5] = [
    SessionFormat::ClaudeCode,
    SessionFormat::Codex,
    SessionFormat::Pi,
    SessionFormat::GeminiCli,
    SessionFormat::QwenCode,
];

fn look(path: &Path) -> Diagnosis {
    diagnose(path, &DiagnosisTarget::default(), &mut |_| {}).unwrap()
}

fn fix(path: &Path, to: &Path) -> Option<photic_doctor::RepairReport> {
    repair(path, to, &DiagnosisTarget::default(), &mut |_| {}).unwrap()
}

fn steps() -> Vec<Step> {
    let picture = |seed| ("image/png", image::png_noise(64, 64, seed));
    vec![Step::Shows(vec![picture(1)]), Step::Returns(vec![picture(2)])]
}

fn session(format: SessionFormat, folder: &Folder) -> PathBuf {
    write(format, &steps(), "claude-sonnet-4-5", &folder.0)
}

#[test]
fn a_cut_last_line_is_seen_and_left_out() {
    for format in LINES {
        let folder = Folder::new();
        let path = session(format, &folder);
        let whole = std::fs::read(&path).unwrap();
        let name = format.name();
        assert!(look(&path).cut_line.is_none(), "{name}");
        let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
        // Cut in the middle of the record, and before its last brace.
        for end in [last + (whole.len() - last) / 2, whole.len() - 2] {
            std::fs::write(&path, &whole[..end]).unwrap();
            let found = look(&path);
            assert!(found.is_broken(), "{name}");
            let cut = found.cut_line.unwrap();
            assert_eq!((cut.bytes, cut.kept), (end - last, found.records - 1), "{name}");
            assert_eq!(cut.record, found.records, "{name}");
            let to = folder.0.join("repaired.jsonl");
            let done = fix(&path, &to).unwrap();
            assert!(done.is_shortened, "{name}");
            assert_eq!(std::fs::read(&to).unwrap(), &whole[..last], "{name}");
            assert!(!look(&to).is_broken(), "{name}");
            assert!(fix(&to, &folder.0.join("again.jsonl")).is_none(), "{name}");
        }
    }
}

#[test]
fn a_last_line_without_its_line_end_is_whole() {
    for format in LINES {
        let folder = Folder::new();
        let path = session(format, &folder);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(!look(&path).is_broken(), "{}", format.name());
        std::fs::write(&path, [whole.as_slice(), b"\n\n"].concat()).unwrap();
        assert!(!look(&path).is_broken(), "{}: blank lines", format.name());
    }
}

#[test]
fn zeros_at_the_end_are_a_cut_line_and_other_lines_stay() {
    let folder = Folder::new();
    let path = session(SessionFormat::ClaudeCode, &folder);
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let torn = [&whole[..first], b"{\"type\":\"us{}\n", &whole[first..]].concat();
    std::fs::write(&path, &torn).unwrap();
    let found = look(&path);
    assert!(!found.is_broken() && found.unreadable_lines == [2], "{found:?}");
    // What a file system leaves after a power failure.
    std::fs::write(&path, [torn.as_slice(), &[0; 600]].concat()).unwrap();
    let found = look(&path);
    assert_eq!(found.cut_line.map(|cut| cut.bytes), Some(600));
    let to = folder.0.join("repaired.jsonl");
    fix(&path, &to).unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), torn);
}

#[test]
fn moved_media_are_well_and_survive_a_repair() {
    for format in LINES {
        let folder = Folder::new();
        let path = session(format, &folder);
        let blobs = FileBlobs::open(folder.0.join("blobs")).unwrap();
        let small = folder.0.join("small.jsonl");
        let moved = externalize(&path, &small, &blobs).unwrap().media;
        let found = look(&small);
        assert!(!found.is_broken(), "{}: {found:?}", format.name());
        assert_eq!(found.moved(), moved, "{}", format.name());
        assert!(fix(&small, &folder.0.join("repaired.jsonl")).is_none());

        // Something else is broken: the repair leaves what was moved as it is.
        let bytes = std::fs::read(&small).unwrap();
        std::fs::write(&small, [bytes.as_slice(), b"{\"type\":\"us"].concat()).unwrap();
        let repaired = folder.0.join("repaired.jsonl");
        fix(&small, &repaired).unwrap();
        let back = folder.0.join("back.jsonl");
        assert_eq!(restore(&repaired, &back, &blobs).unwrap().media, moved);
        assert_eq!(std::fs::read(&back).unwrap(), std::fs::read(&path).unwrap());
    }
}

#[test]
fn the_model_of_another_maker_is_judged_by_its_own_profile() {
    let folder = Folder::new();
    let path = session(SessionFormat::ClaudeCode, &folder);
    let judged = |model: &str| {
        let target = DiagnosisTarget { model: Some(model.to_owned()), wire: None };
        diagnose(&path, &target, &mut |_| {}).unwrap()
    };
    assert!(!judged("claude-opus-5").is_broken());
    let blind = judged("gpt-3.5-turbo");
    assert_ne!(blind.profile, "anthropic");
    assert_eq!(blind.broken().count(), 2, "it reads text only");
    let codes: Vec<String> = blind
        .broken()
        .filter_map(|medium| medium.ailment.as_ref())
        .map(|ailment| ailment.code.name().to_owned())
        .collect();
    assert_eq!(codes, ["image_to_text_only_model"; 2]);
    // Nothing is known about this one, so the agent's endpoint judges.
    assert_eq!(judged("no-such-model").profile, "anthropic");
}

#[test]
fn a_session_has_the_name_that_its_agent_resumes_it_by() {
    for (format, folder_of_agent) in [
        (SessionFormat::ClaudeCode, Some("/home/somebody")),
        (SessionFormat::Codex, Some("/home/somebody")),
    ] {
        let folder = Folder::new();
        let name = look(&session(format, &folder)).session.unwrap();
        assert_eq!(name.id, "s", "{}", format.name());
        assert_eq!(name.folder.as_deref(), folder_of_agent, "{}", format.name());
    }
    for format in SessionFormat::SESSIONS {
        let folder = Folder::new();
        let name = look(&session(format, &folder)).session;
        // The database of opencode has two sessions here, and neither of them needs a repair.
        let is_named = name.is_some_and(|name| !name.id.is_empty());
        assert_eq!(is_named, format != SessionFormat::OpenCode, "{}", format.name());
    }
}

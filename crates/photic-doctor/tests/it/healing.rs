//! Every sick session, of every format: rejected, repaired, accepted.

use std::path::Path;

use photic::Wire;
use photic_doctor::{DiagnosisTarget, SessionFormat, diagnose, repair};
use photic_testkit::image::{self, base64};
use serde_json::Value;

use crate::cases::{self, Case};
use crate::provider::ask;
use crate::replay;
use crate::sessions::{Folder, Step, write};

fn formats() -> impl Iterator<Item = SessionFormat> {
    SessionFormat::SESSIONS.into_iter().chain(Wire::ALL.map(SessionFormat::Request))
}

/// Heals one session, and says how that went wrong.
fn heal(format: SessionFormat, case: &Case) -> Result<(), String> {
    let folder = Folder::new();
    let model = cases::model(format);
    let path = write(format, &case.steps, model, &folder.0);
    let (wire, request) = replay::request(format, &path, model);
    let (status, says) = ask(wire, model, &request);
    if status < 400 {
        return Err(format!("is accepted as it is: {status} {says}"));
    }
    let question = DiagnosisTarget { model: Some(model.to_owned()), wire: Some(wire) };
    let found = diagnose(&path, &question, &mut |_| {}).map_err(|error| error.to_string())?;
    if !found.is_broken() {
        return Err(format!("is found well, but: {status} {says}"));
    }
    let original = std::fs::read(&path).unwrap();
    let to = folder.0.join("repaired");
    let done = repair(&path, &to, &question, &mut |_| {}).map_err(|error| error.to_string())?;
    let done = done.ok_or("is not repaired")?;
    if std::fs::read(&path).unwrap() != original {
        return Err("the original was touched".to_owned());
    }
    let (_, healed) = replay::request(format, &to, model);
    let (status, says) = ask(wire, model, &healed);
    if status != 200 {
        return Err(format!("is rejected once repaired: {status} {says}\n{done:?}"));
    }
    if !matches!(format, SessionFormat::Request(_)) {
        only_media_changed(format, &path, &to)?;
    }
    let again = folder.0.join("again");
    match repair(&to, &again, &question, &mut |_| {}) {
        Ok(None) if !again.exists() => Ok(()),
        other => Err(format!("is repaired twice: {other:?}")),
    }
}

/// Records, and everything in them that is no medium, are the same.
fn only_media_changed(format: SessionFormat, before: &Path, after: &Path) -> Result<(), String> {
    let (before, after) = (replay::records(format, before), replay::records(format, after));
    if before.len() != after.len() {
        return Err(format!("{} records became {}", before.len(), after.len()));
    }
    for (before, after) in before.iter().zip(&after) {
        let (mut left, mut right) = (before.clone(), after.clone());
        blank(&mut left);
        blank(&mut right);
        if left != right {
            return Err(format!("more than media changed:\n{left}\n{right}"));
        }
    }
    Ok(())
}

/// Replaces each medium, or the notice for one, by a dot, and joins adjacent dots.
fn blank(value: &mut Value) {
    match value {
        Value::Array(list) => {
            list.iter_mut().for_each(blank);
            list.retain(|one| one != ".");
        }
        Value::Object(object) => {
            let is_notice = |text: &Value| {
                text.as_str().is_some_and(|text| text.starts_with("[image not shown"))
            };
            let is_medium = object.contains_key("inlineData")
                || object.get("text").is_some_and(is_notice)
                || matches!(
                    object.get("type").and_then(Value::as_str),
                    Some("image" | "input_image")
                )
                || object.contains_key("url");
            if is_medium {
                *value = Value::from(".");
                return;
            }
            object.shift_remove("not_shown");
            if let Some(Value::String(output)) = object.get_mut("output") {
                output.truncate(output.find("\n[image not shown").unwrap_or(output.len()));
            }
            object.values_mut().for_each(blank);
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn sick_sessions_are_rejected_repaired_and_accepted() {
    let (mut count, mut complaints) = (0, Vec::new());
    for format in formats() {
        for case in &cases::all(format) {
            count += 1;
            let step =
                if matches!(case.steps[1], Step::Shows(_)) { "attached" } else { "returned" };
            if let Err(complaint) = heal(format, case) {
                complaints.push(format!("{}: {} ({step}): {complaint}", format.name(), case.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert_eq!(count, 181, "docs/doctor.md tells how many");
}

#[test]
fn healthy_sessions_are_left_alone() {
    for format in formats() {
        let folder = Folder::new();
        let model = cases::model(format);
        let steps = [
            Step::Shows(vec![("image/png", image::png(40, 40, [1, 2, 3]))]),
            Step::Returns(vec![("image/png", image::png_noise(40, 40, 3))]),
        ];
        let path = write(format, &steps, model, &folder.0);
        let temporary_name = || std::fs::read_dir(&folder.0).unwrap().count();
        let before = temporary_name();
        let found = diagnose(&path, &DiagnosisTarget::default(), &mut |_| {}).unwrap();
        assert_eq!(temporary_name(), before, "{} leaves something behind", format.name());
        assert!(!found.is_broken(), "{}: {:?}", format.name(), found.broken().collect::<Vec<_>>());
        assert_eq!(found.format, format);
        let to = folder.0.join("repaired");
        assert!(repair(&path, &to, &DiagnosisTarget::default(), &mut |_| {}).unwrap().is_none());
        assert!(!to.exists());
        let (wire, request) = replay::request(format, &path, model);
        assert_eq!(ask(wire, model, &request).0, 200, "{}", format.name());
    }
}

#[test]
fn a_model_without_sight_gets_words() {
    for format in [
        SessionFormat::ClaudeCode,
        SessionFormat::Pi,
        SessionFormat::OpenCode,
        SessionFormat::Goose,
    ] {
        let folder = Folder::new();
        let steps = [Step::Returns(vec![("image/png", image::png(32, 32, [1, 2, 3]))])];
        let path = write(format, &steps, "claude-2.1", &folder.0);
        let question =
            DiagnosisTarget { model: Some("claude-2.1".to_owned()), wire: Some(Wire::Anthropic) };
        let (wire, request) = replay::request(format, &path, "claude-2.1");
        assert!(ask(wire, "claude-2.1", &request).0 >= 400);
        let to = folder.0.join("repaired");
        let done = repair(&path, &to, &question, &mut |_| {}).unwrap().unwrap();
        assert_eq!((done.noticed, done.remade), (1, 0), "{}", format.name());
        let (wire, request) = replay::request(format, &to, "claude-2.1");
        assert!(request.to_string().contains("you have not seen it"), "{request}");
        assert_eq!(ask(wire, "claude-2.1", &request).0, 200, "{}", format.name());
    }
}

#[test]
fn pictures_in_failed_results_give_way_to_words() {
    let folder = Folder::new();
    let png = image::png(32, 32, [1, 2, 3]);
    let steps = [Step::Fails(vec![("image/png", png.clone())])];
    let path = write(SessionFormat::ClaudeCode, &steps, "claude-sonnet-4-5", &folder.0);
    let (wire, request) = replay::request(SessionFormat::ClaudeCode, &path, "claude-sonnet-4-5");
    assert!(ask(wire, "claude-sonnet-4-5", &request).0 >= 400);
    let to = folder.0.join("repaired");
    let done = repair(&path, &to, &DiagnosisTarget::default(), &mut |_| {}).unwrap().unwrap();
    assert_eq!(done.noticed, 1);
    let (wire, request) = replay::request(SessionFormat::ClaudeCode, &to, "claude-sonnet-4-5");
    assert_eq!(ask(wire, "claude-sonnet-4-5", &request).0, 200);
    // The copy for the screen is not sent, and stays.
    assert!(std::fs::read_to_string(&to).unwrap().contains(&base64(&png)));
}

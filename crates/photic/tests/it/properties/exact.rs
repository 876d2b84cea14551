//! Rule 4: clean bodies keep every byte, and lowering twice is lowering once.

use photic::Policy;
use photic::profile::{ConsecutiveUser, Rule};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use super::exam::{Exam, trials, trials_at_home};
use crate::harness::{STAYS, check, codes, lower, lower_with};

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn lowering_again_changes_nothing(trial in trials(3)) {
        for exam in trial.everywhere() {
            idempotent(&exam)?;
        }
    }

    #[test]
    fn nothing_is_left_to_find(trial in trials(3)) {
        repaired(&trial.run())?;
    }

    #[test]
    fn what_is_clean_keeps_every_byte(trial in trials_at_home(2)) {
        untouched(&trial.run())?;
    }

    #[test]
    fn unknown_fields_travel_on(trial in trials_at_home(2)) {
        fields(&trial.run())?;
    }
}

pub(super) fn idempotent(exam: &Exam) -> Result<(), TestCaseError> {
    let again = lower_with(exam.to, &exam.body, &exam.profile, &Policy::hands_off()).body;
    if again != exam.body {
        return exam.fail(format!("not stable\n--- again\n{}", String::from_utf8_lossy(&again)));
    }
    if matches!(exam.profile.tokens, Rule::Flat { .. }) {
        // Every picture has the same high price, and a few bytes more decide what is retired.
        return Ok(());
    }
    let marked = lower(exam.from, &exam.input, &exam.profile).body;
    let again = lower(exam.to, &marked, &exam.profile).body;
    // A picture that was moved is no view any more, so that another mark may be due.
    if without_marks(&again) != without_marks(&marked) {
        let (marked, again) = (String::from_utf8_lossy(&marked), String::from_utf8_lossy(&again));
        return exam.fail(format!("not stable\n--- marked\n{marked}\n--- again\n{again}"));
    }
    Ok(())
}

/// A body without the marks of its cache.
fn without_marks(body: &[u8]) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("cache_control");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(body).unwrap_or_default();
    strip(&mut value);
    value
}

pub(super) fn repaired(exam: &Exam) -> Result<(), TestCaseError> {
    let left = codes(&check(exam.to, &exam.body, &exam.profile));
    match left.into_iter().find(|code| !STAYS.contains(code)) {
        Some(code) => exam.fail(format!("`{code}` is left")),
        None => Ok(()),
    }
}

pub(super) fn untouched(exam: &Exam) -> Result<(), TestCaseError> {
    if exam.from != exam.to || exam.profile.quirks.consecutive_user == ConsecutiveUser::Merge {
        return Ok(());
    }
    let findings = codes(&check(exam.from, &exam.input, &exam.profile));
    let clean = findings.iter().all(|code| STAYS.contains(code));
    if clean && exam.body != exam.input {
        return exam.fail("changed although clean");
    }
    if !clean && exam.body == exam.input {
        return exam.fail(format!("unchanged although {findings:?}"));
    }
    Ok(())
}

/// Fields that no wire defines: those of the body, and those of every message that holds no media
/// and no result, which nothing can have touched.
pub(super) fn fields(exam: &Exam) -> Result<(), TestCaseError> {
    if exam.from != exam.to || exam.profile.quirks.consecutive_user == ConsecutiveUser::Merge {
        return Ok(());
    }
    let parse = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap_or_default();
    let (mut input, mut output) = (parse(&exam.input), parse(&exam.body));
    let (before, after) = (take_list(&mut input), take_list(&mut output));
    if input != output {
        return exam.fail("the fields of the body changed");
    }
    match before.iter().filter(|message| is_plain(message)).find(|message| !after.contains(message))
    {
        Some(message) => exam.fail(format!("this message changed: {message}")),
        None => Ok(()),
    }
}

/// Takes the list of messages out of a body, and the system prompt, which may hold media.
fn take_list(body: &mut Value) -> Vec<Value> {
    let Some(object) = body.as_object_mut() else { return Vec::new() };
    object.remove("system");
    object.remove("systemInstruction");
    let list = ["messages", "input", "contents"].iter().find_map(|name| object.remove(*name));
    list.and_then(|list| list.as_array().cloned()).unwrap_or_default()
}

/// Whether a message is nothing but words.
fn is_plain(message: &Value) -> bool {
    let speaks = message["role"].as_str().is_some_and(|role| role != "tool");
    let words = message.to_string();
    let media = [
        "tool_result",
        "tool_use",
        "toolUse",
        "toolResult",
        "functionCall",
        "functionResponse",
        "inlineData",
        "image",
        "data:",
        "document",
        "base64",
        "Buffer",
        "\"text\":\"\"",
        "\"text\":\" \\n\"",
    ];
    // Nobody says such a word, unless it is base64.
    let is_long = |word: &str| word.len() > 40;
    let mut runs = words.split(|letter: char| !letter.is_ascii_alphanumeric());
    let blank = [&message["content"], &message["content"][0]["text"]];
    let is_blank = |text: &&Value| text.as_str().is_some_and(|text| text.trim().is_empty());
    speaks
        && !blank.iter().any(is_blank)
        && !media.iter().any(|word| words.contains(word))
        && !runs.any(is_long)
}

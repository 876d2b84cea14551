//! The mock parses the recorded requests of published clients, whether it accepts them or not.

use std::path::Path;

use serde_json::Value;

use crate::bodies::Wire;
use crate::client::{post, start};

/// Rules that some of the recorded requests break.
const KNOWN: [&str; 3] = ["error_result_media", "image_wrong_role", "media_type_unsupported"];
/// The rule that requests with every setting break: no single model accepts all settings.
const KNOWN_OF_SETTINGS: &str = "setting_refused";

#[test]
fn recorded_requests_hold_nothing_unknown() {
    let mock = start();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../photic/tests/captured");
    let (mut count, mut complaints) = (0, Vec::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(mut body) = serde_json::from_str::<Value>(&text) else { continue };
        let name = path.file_stem().unwrap().to_string_lossy();
        let wire = match (&body["input"], &body["messages"]) {
            (Value::Array(_), _) => Wire::Responses,
            (_, Value::Array(_)) if name.contains("anthropic") => Wire::Messages,
            (_, Value::Array(_)) => Wire::Chat,
            _ => continue,
        };
        // The recorder made up its ids; what they refer to is not here.
        let kept = ["\"previous_response_id\"", "\"item_reference\"", "\"thread\""];
        if kept.iter().any(|word| text.contains(word)) {
            continue;
        }
        body["stream"] = Value::Bool(false);
        let reply = post(&mock, wire.path(), &body);
        let entry = mock.journal().pop().unwrap();
        let known = |code: &str| {
            KNOWN.contains(&code) || (name.ends_with("-settings") && code == KNOWN_OF_SETTINGS)
        };
        let strange: Vec<&String> = entry.violations.iter().filter(|code| !known(code)).collect();
        if !strange.is_empty() {
            complaints.push(format!("{}: {strange:?} {}", path.display(), reply.text));
        }
        assert!(reply.status == 200 || !entry.violations.is_empty(), "{}", reply.text);
        count += 1;
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(count > 30, "{count}");
}

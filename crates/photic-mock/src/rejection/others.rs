//! The words of the wires whose services say little about where the trouble stands.

use photic::Wire;
use photic_testkit::oracle::Violation;

use super::Rejection;

pub(super) fn rejection(wire: Wire, violation: &Violation) -> Rejection {
    let text = violation.text.as_str();
    let says = match (wire, violation.code) {
        (_, "body_too_large") => return Rejection::too_heavy(wire),
        (Wire::Gemini, "image_invalid" | "base64_invalid" | "media_type_mismatch") => {
            "Unable to process input image. Please retry or report in \
             https://developers.generativeai.google/guide/troubleshooting"
                .to_owned()
        }
        (Wire::Gemini, "unknown_field" | "unknown_part") => {
            let name = violation.pointer.rsplit('/').next().unwrap_or_default();
            format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.")
        }
        (Wire::Converse, "image_invalid" | "base64_invalid") => {
            "The model returned the following errors: Could not process image".to_owned()
        }
        (Wire::Ollama, "image_invalid") => "invalid image input".to_owned(),
        _ => text.to_owned(),
    };
    match wire {
        Wire::Converse => Rejection::new(400, "ValidationException", says),
        _ => Rejection::new(400, "INVALID_ARGUMENT", says),
    }
}

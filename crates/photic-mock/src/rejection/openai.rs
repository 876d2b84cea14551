//! Error messages of `OpenAI` for broken rules, on both of its wires.

use photic::Wire;
use photic_testkit::oracle::Violation;

use super::{Rejection, numbers, too_many_bytes};

/// Message about supported formats.
const FORMATS: &str = "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
/// Message about invalid images.
const INVALID: &str = "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].";

/// The rejection for a violation.
pub(crate) fn rejection(wire: Wire, violation: &Violation) -> Rejection {
    let (path, text) = (indexed(&violation.pointer), violation.text.as_str());
    let at = |code: &'static str, message: String| Rejection {
        param: (!path.is_empty()).then(|| path.clone()),
        ..Rejection::invalid(message).code(code)
    };
    let limit = || numbers(text).first().copied().unwrap_or_default();
    match violation.code {
        "body_too_large" => Rejection::too_large(wire),
        "not_json" => Rejection::invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you \
             aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but \
             what was sent was not valid JSON.)",
        ),
        "image_wrong_role" if violation.pointer.starts_with("/messages") => {
            let message = message_of(&path);
            let text = format!("Invalid '{message}'. {text}");
            Rejection { param: Some(message), ..at("invalid_value", text) }
        }
        "media_type_unsupported" if text.contains("image") => {
            at("invalid_image_format", FORMATS.to_owned())
        }
        "media_type_mismatch" | "image_invalid" => at("invalid_image", INVALID.to_owned()),
        "base64_invalid" => {
            at("invalid_base64_image", format!("Invalid '{path}'. Invalid base64 data."))
        }
        "data_url_invalid" => {
            let text = format!(
                "Invalid '{path}'. {text}, but got a value without the 'data:' prefix or an unsupported MIME type."
            );
            at("invalid_value", text)
        }
        "image_too_large" if text.contains("patches") => at(
            "image_too_large",
            format!("Image exceeds the limit of {} patches after resizing", limit()),
        ),
        "image_too_large" if text.contains("dimensions") => {
            let text = format!("The image dimensions exceed the maximum of {} pixels.", limit());
            at("image_too_large", text)
        }
        "image_too_large" => at("image_too_large", too_many_bytes(text)),
        "image_too_small" => {
            let least = numbers(text).last().copied().unwrap_or_default();
            let text =
                format!("The image is too small. It must be at least {least} pixels on each side.");
            at("image_too_small", text)
        }
        "too_many_images" => match numbers(text)[..] {
            [count, most, ..] => {
                let text =
                    format!("request contains {count} images, exceeding the maximum of {most}");
                at("invalid_value", text)
            }
            _ => at("invalid_value", text.to_owned()),
        },
        "image_unsupported" => {
            let text = "Invalid content type. image_url is only supported by certain models.";
            at("invalid_value", text.to_owned())
        }
        "unknown_field" => at("unknown_parameter", format!("Unknown parameter: '{path}'.")),
        "field_missing" => at("missing_required_parameter", text.to_owned()),
        "field_type" => at("invalid_type", text.to_owned()),
        "value_unknown" => at("invalid_value", plain_list(text)),
        // Errors about pairing have no code.
        "call_unanswered" | "result_orphan" | "result_duplicate" => {
            Rejection { code: None, ..at("", text.to_owned()) }
        }
        _ => at("invalid_value", text.to_owned()),
    }
}

/// `/messages/5/content/0` as `messages[5].content[0]`.
fn indexed(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
            path.extend(["[", step, "]"]);
        } else {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(step);
        }
    }
    path
}

/// The message that a path leads into: `messages[5]`.
fn message_of(path: &str) -> String {
    path.split('.').next().unwrap_or(path).to_owned()
}

/// `Supported values are: ["low", "high"]` as `Supported values are: 'low', 'high'`.
fn plain_list(text: &str) -> String {
    text.replace("'\"", "'").replace("\"'", "'").replace(['[', ']'], "").replace('"', "'")
}

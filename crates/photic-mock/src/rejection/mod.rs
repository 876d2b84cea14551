//! How a provider says no: status, envelope and words of each wire.
//!
//! Owns the envelopes and what is no violation of the body (keys, models, load). The words for
//! violations are in a file per provider. Must never say anything of its own: a client, and the
//! classifier of `photic`, must not be able to tell it from the original.

mod anthropic;
mod openai;
mod others;

use photic::Wire;
use photic_testkit::oracle::Violation;
use serde_json::{Value, json};

/// A no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    /// The provider's `type`.
    kind: &'static str,
    /// The provider's `code`, on the wires that have one.
    code: Option<&'static str>,
    /// The parameter, on the wires that name it.
    param: Option<String>,
    message: String,
    /// The provider's `error_code`, for the few that have details.
    detail: Option<&'static str>,
}

impl Rejection {
    fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, code: None, param: None, message: message.into(), detail: None }
    }

    fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    /// What the body of a request broke.
    pub(crate) fn of(wire: Wire, violation: &Violation) -> Self {
        match wire {
            Wire::Anthropic => anthropic::rejection(violation),
            Wire::OpenAiChat | Wire::OpenAiResponses => openai::rejection(wire, violation),
            Wire::Gemini | Wire::Converse | Wire::Ollama => others::rejection(wire, violation),
        }
    }

    /// An image whose container is whole, and whose pixels cannot be read.
    pub(crate) fn undecodable(wire: Wire, pointer: &str) -> Self {
        let text = "it cannot be decoded".to_owned();
        Self::of(wire, &Violation { code: "image_invalid", pointer: pointer.to_owned(), text })
    }

    /// No key.
    pub(crate) fn no_key(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => {
                Self::new(401, "authentication_error", "x-api-key header is required")
            }
            Wire::OpenAiChat | Wire::OpenAiResponses => Self::new(
                401,
                "invalid_request_error",
                "You didn't provide an API key. You need to provide your API key in an \
                 Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            ),
            Wire::Gemini | Wire::Ollama => Self::new(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers (callers without established identity).",
            ),
            Wire::Converse => Self::new(403, "AccessDenied", "Missing Authentication Token"),
        }
    }

    /// The version header of the Messages wire is missing.
    pub(crate) fn no_version() -> Self {
        Self::invalid("anthropic-version: header is required")
    }

    /// No model is named.
    pub(crate) fn model_missing(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => Self::invalid("model: Field required"),
            Wire::OpenAiChat | Wire::OpenAiResponses => {
                Self::invalid("you must provide a model parameter")
            }
            Wire::Gemini | Wire::Converse | Wire::Ollama => Self::invalid("model is required"),
        }
    }

    /// A model that this provider does not have.
    pub(crate) fn no_model(wire: Wire, model: &str) -> Self {
        match wire {
            Wire::Anthropic => Self::new(404, "not_found_error", format!("model: {model}")),
            Wire::OpenAiChat | Wire::OpenAiResponses => {
                let text =
                    format!("The model `{model}` does not exist or you do not have access to it.");
                Self::new(404, "invalid_request_error", text).code("model_not_found")
            }
            Wire::Gemini => Self::new(
                404,
                "NOT_FOUND",
                format!("models/{model} is not found for API version v1beta"),
            ),
            Wire::Converse => {
                Self::new(400, "ValidationException", "The provided model identifier is invalid.")
            }
            Wire::Ollama => Self::new(404, "not_found", format!("model '{model}' not found")),
        }
    }

    /// A path behind which there is nothing.
    pub(crate) fn no_path(method: &str, path: &str) -> Self {
        Self::new(404, "invalid_request_error", format!("Invalid URL ({method} {path})"))
    }

    /// A reply or an item that this provider does not keep.
    pub(crate) fn not_stored(what: &str, id: &str) -> Self {
        let (code, text) = match what {
            "response" => (
                "previous_response_not_found",
                format!("Previous response with id '{id}' not found."),
            ),
            _ => ("item_not_found", format!("Item with id '{id}' not found.")),
        };
        Self::invalid(text).code(code)
    }

    /// A thread that this provider does not keep.
    pub(crate) fn no_thread() -> Self {
        let text = "No usable Thread state was found for `previous_message_id`. Replay the full \
                    conversation with `thread: {\"type\": \"create\"}` to start a new Thread.";
        Self { detail: Some("thread_not_found"), ..Self::new(404, "not_found_error", text) }
    }

    /// More tokens than the model holds.
    pub(crate) fn too_long(wire: Wire, tokens: u64, most: u64) -> Self {
        match wire {
            Wire::Anthropic => {
                Self::invalid(format!("prompt is too long: {tokens} tokens > {most} maximum"))
            }
            Wire::OpenAiChat => Self::invalid(format!(
                "This model's maximum context length is {most} tokens. However, your messages \
                 resulted in {tokens} tokens. Please reduce the length of the messages."
            ))
            .code("context_length_exceeded"),
            Wire::OpenAiResponses => Self::invalid(
                "Your input exceeds the context window of this model. Please adjust your input \
                 and try again.",
            )
            .code("context_length_exceeded"),
            Wire::Gemini => Self::new(
                400,
                "INVALID_ARGUMENT",
                format!(
                    "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most})."
                ),
            ),
            Wire::Converse => {
                Self::new(400, "ValidationException", "Input is too long for requested model.")
            }
            Wire::Ollama => Self::new(400, "too_long", "the prompt is longer than the context"),
        }
    }

    /// A body that is not even read.
    pub(crate) fn too_heavy(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => {
                Self::new(413, "request_too_large", "Request exceeds the maximum size")
            }
            Wire::OpenAiChat | Wire::OpenAiResponses => {
                Self::new(413, "invalid_request_error", "Request body too large")
            }
            Wire::Gemini => Self::new(
                400,
                "INVALID_ARGUMENT",
                "Request payload size exceeds the limit: 20971520 bytes.",
            ),
            Wire::Converse => Self::new(413, "RequestEntityTooLarge", "Request Entity Too Large"),
            Wire::Ollama => Self::new(413, "too_large", "http: request body too large"),
        }
    }

    /// Too many requests.
    pub(crate) fn rate_limit(wire: Wire, model: &str) -> Self {
        match wire {
            Wire::Anthropic => Self::new(
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50 requests per minute.",
            ),
            Wire::OpenAiChat | Wire::OpenAiResponses => {
                let text = format!(
                    "Rate limit reached for {model} in organization org-mock on requests per min \
                     (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s."
                );
                Self::new(429, "requests", text).code("rate_limit_exceeded")
            }
            Wire::Gemini => {
                let text = "Resource has been exhausted (e.g. check quota).";
                Self::new(429, "RESOURCE_EXHAUSTED", text)
            }
            Wire::Converse => {
                let text = "Too many requests, please wait before trying again.";
                Self::new(429, "ThrottlingException", text)
            }
            Wire::Ollama => {
                let text = "server busy, please try again. maximum pending requests exceeded";
                Self::new(503, "busy", text)
            }
        }
    }

    /// The provider's own fault.
    pub(crate) fn server_error(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => Self::new(500, "api_error", "Internal server error"),
            Wire::OpenAiChat | Wire::OpenAiResponses => Self::new(
                500,
                "server_error",
                "The server had an error while processing your request. Sorry about that!",
            ),
            Wire::Gemini => Self::new(500, "INTERNAL", "An internal error has occurred."),
            Wire::Converse => Self::new(
                500,
                "InternalServerException",
                "The system encountered an unexpected error during processing. Try your request again.",
            ),
            Wire::Ollama => Self::new(500, "internal", "llama runner process has terminated"),
        }
    }

    /// The envelope of the wire.
    pub(crate) fn body(&self, wire: Wire, number: u64) -> Value {
        match wire {
            Wire::Anthropic => {
                let mut error = json!({"type": self.kind, "message": self.message});
                if let Some(detail) = self.detail {
                    error["details"] = json!({"error_code": detail});
                }
                let id = format!("req_mock{number:08}");
                json!({"type": "error", "error": error, "request_id": id})
            }
            Wire::OpenAiChat | Wire::OpenAiResponses => json!({"error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }}),
            Wire::Gemini => json!({"error": {
                "code": self.status,
                "message": self.message,
                "status": self.kind,
            }}),
            Wire::Converse => json!({"message": self.message}),
            Wire::Ollama => json!({"error": self.message}),
        }
    }
}

/// The whole numbers in a sentence, in order.
fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

/// `image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes`, from the oracle's two numbers.
fn too_many_bytes(text: &str) -> String {
    match numbers(text)[..] {
        [bytes, most, ..] => {
            let megabytes = most as f64 / f64::from(1 << 20);
            format!("image exceeds {megabytes:.0} MB maximum: {bytes} bytes > {most} bytes")
        }
        _ => text.to_owned(),
    }
}

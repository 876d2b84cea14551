//! Code that Chat Completions and Responses share: settings, except for the objects around them,
//! errors, and the documents that describe a model.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::{ErrorKind, ErrorWords};
use crate::json::{Out, Str};
use crate::lower::Writer;
use crate::profile::capability::Question;
use crate::settings::ToolChoice;

/// The JSON around names in a choice of tools, before and after.
pub(super) struct Around {
    /// Around the name of a function.
    pub(super) function: (&'static str, &'static str),
    /// Around the mode and the list of the functions that may be called.
    pub(super) allowed: (&'static str, &'static str),
}

/// Writes the choice of functions, and the setting for parallel calls.
pub(super) fn write_choice<'a>(writer: &mut Writer<'_, 'a>, out: &mut Out<'a>, around: &Around) {
    let named = |out: &mut Out<'a>, name: &Str<'a>| {
        out.json(around.function.0).string(name).json(around.function.1);
    };
    if let Some(choice) = writer.tool_choice() {
        out.comma().key("tool_choice");
        match choice {
            ToolChoice::Auto => {
                out.quoted("auto");
            }
            ToolChoice::None => {
                out.quoted("none");
            }
            ToolChoice::Any => {
                out.quoted("required");
            }
            ToolChoice::Named(name) => named(out, &name),
            ToolChoice::Among(names, forced) => {
                out.json(around.allowed.0).quoted(if forced { "required" } else { "auto" });
                out.json(",\"tools\":[");
                for name in &names {
                    named(out.comma(), name);
                }
                out.json(around.allowed.1);
            }
        }
    }
    if let Some(parallel) = writer.transcript.settings.parallel_calls {
        out.comma().key("parallel_tool_calls").boolean(parallel);
    }
}

/// Writes the name, schema and strictness of the answer's format. A name is required; `field` is
/// the path of the name.
pub(super) fn write_schema<'a>(
    writer: &mut Writer<'_, 'a>,
    out: &mut Out<'a>,
    field: &str,
    (name, schema, strict): (Option<&Str<'a>>, Cow<'a, [u8]>, Option<bool>),
) {
    if name.is_none() {
        writer.add(field);
    }
    out.json("\"name\":").string(name.unwrap_or(&Str::plain("answer")));
    out.json(",\"schema\":").bytes(schema);
    if let Some(strict) = strict {
        out.json(",\"strict\":").boolean(strict);
    }
}

/// Returns the wire's name for a kind of error.
pub(super) const fn error_word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid
        | ErrorKind::TooLarge
        | ErrorKind::SlowClient
        | ErrorKind::Unauthenticated
        | ErrorKind::Forbidden
        | ErrorKind::NotFound
        | ErrorKind::RateLimited
        | ErrorKind::MethodNotAllowed => "invalid_request_error",
        ErrorKind::SlowProvider | ErrorKind::BadGateway => "upstream_error",
        ErrorKind::NoCredentials
        | ErrorKind::Unavailable
        | ErrorKind::Overloaded
        | ErrorKind::Unimplemented
        | ErrorKind::Internal => "server_error",
    }
}

/// Returns the body of an error.
pub(super) fn error_body(words: &ErrorWords<'_>) -> Json {
    json!({"error": {
        "message": words.message,
        "type": words.kind,
        "param": words.param,
        "code": words.code,
    }})
}

/// Returns the documents that describe a model. Servers that imitate these wires have some of
/// their own.
pub(super) fn model_documents(base: &str, root: &str, model: &str) -> Vec<Question> {
    vec![
        Question::get(format!("{base}/models")),
        Question::get(format!("{root}/props")),
        Question::show(root, model),
        Question::get(format!("{root}/api/v1/models")),
        Question::get(format!("{root}/model/info")),
    ]
}

//! Settings that Chat Completions and Responses write alike, but for the objects around them.

use std::borrow::Cow;

use crate::json::{Out, Str};
use crate::lower::Writer;
use crate::settings::ToolChoice;

/// The JSON around names in a choice of tools, before and after.
pub(super) struct Around {
    /// Around the name of a function.
    pub(super) function: (&'static str, &'static str),
    /// Around the mode and the list of the functions that may be called.
    pub(super) allowed: (&'static str, &'static str),
}

/// Writes which functions may or must be called, and whether several at once.
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

/// Writes name, schema and strictness of the form an answer must have. A name is demanded; `field`
/// is where it stands.
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

//! The arguments of a call, as each wire spells them.

use crate::json::{Doc, Kind, Out};
use crate::transcript::Arguments;

impl<'a> Arguments<'a> {
    /// As a string that holds JSON.
    pub(crate) fn as_string(&self, out: &mut Out<'a>) {
        match self {
            Self::Text(text) => out.string(text),
            Self::Json(raw) => out.json("\"").escaped(raw).json("\""),
            Self::Free(_) => {
                let mut inner = Out::new();
                self.as_object(&mut inner);
                out.json("\"").escaped(&inner.finish().to_vec()).json("\"")
            }
        };
    }

    /// As a JSON object.
    pub(crate) fn as_object(&self, out: &mut Out<'a>) {
        match self {
            Self::Json(raw) => {
                out.raw(raw);
            }
            Self::Text(text) => {
                let text = text.decode();
                let is_object = Doc::parse(text.as_bytes())
                    .is_ok_and(|doc| doc.root().is_some_and(|root| root.kind() == Kind::Object));
                match text.trim() {
                    "" => out.json("{}"),
                    text if is_object => out.json(text),
                    text => out.json("{\"input\":").quoted(text).json("}"),
                };
            }
            Self::Free(text) => {
                out.json("{\"input\":").string(text).json("}");
            }
        }
    }
}

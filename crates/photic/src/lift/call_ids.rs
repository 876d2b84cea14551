//! Call ids for wires where calls may have none.

use crate::json::Str;

/// Assigns ids on wires where calls may come without one.
///
/// An id is made from the order of the calls. A result without an id gets that of the open call with
/// its name or, if it has no name either, that of the first open call.
#[derive(Default)]
pub(crate) struct CallIds<'a> {
    made: usize,
    open: Vec<(Str<'a>, Str<'a>)>,
}

impl<'a> CallIds<'a> {
    /// Starts a new turn of the model. Calls that are still open can no longer be answered by
    /// name.
    pub(crate) fn turn(&mut self) {
        self.open.clear();
    }

    /// Returns the id of a call, and makes one if it has none.
    pub(crate) fn call(&mut self, id: Option<Str<'a>>, name: &Str<'a>) -> Str<'a> {
        self.made += 1;
        let id = id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| Str::plain(format!("call_{}", self.made)));
        self.open.push((name.clone(), id.clone()));
        id
    }

    /// Returns the id of the call that a result answers.
    pub(crate) fn result(&mut self, id: Option<Str<'a>>, name: &Str<'a>) -> Str<'a> {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            if let Some(at) = self.open.iter().position(|(_, open)| *open == id) {
                self.open.remove(at);
            }
            return id;
        }
        let by_name = self.open.iter().position(|(open, _)| open == name);
        let first = (name.is_empty() && !self.open.is_empty()).then_some(0);
        match by_name.or(first) {
            Some(at) => self.open.remove(at).1,
            None => Str::plain("call_unknown"),
        }
    }
}

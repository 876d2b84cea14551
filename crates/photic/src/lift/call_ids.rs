//! Ids of calls on wires that have none.

use crate::json::Str;

/// Ids on wires where calls may come without one: made from the order of calls, and given to the
/// results that answer them by name or, failing that, by place.
#[derive(Default)]
pub(crate) struct CallIds<'a> {
    made: usize,
    open: Vec<(Str<'a>, Str<'a>)>,
}

impl<'a> CallIds<'a> {
    /// A new turn of the model: what was not answered by now is not answered by name any more.
    pub(crate) fn turn(&mut self) {
        self.open.clear();
    }

    /// The id of a call.
    pub(crate) fn call(&mut self, id: Option<Str<'a>>, name: &Str<'a>) -> Str<'a> {
        self.made += 1;
        let id = id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| Str::plain(format!("call_{}", self.made)));
        self.open.push((name.clone(), id.clone()));
        id
    }

    /// The id of the call that a result answers.
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

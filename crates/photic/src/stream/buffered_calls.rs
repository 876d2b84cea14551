//! Calls for a wire that sends each in one piece. Their arguments are collected first.

/// The calls that are not complete yet, in order.
#[derive(Debug, Default)]
pub(crate) struct WholeCalls {
    open: Vec<(usize, WholeCall)>,
}

/// A call, and the part of its arguments that has arrived.
#[derive(Debug)]
pub(crate) struct WholeCall {
    pub(crate) id: String,
    pub(crate) name: String,
    json: String,
}

impl WholeCalls {
    pub(crate) fn begin(&mut self, index: usize, id: String, name: String) {
        self.open.push((index, WholeCall { id, name, json: String::new() }));
    }

    pub(crate) fn more(&mut self, index: usize, json: &str) {
        if let Some((_, call)) = self.open.iter_mut().find(|(number, _)| *number == index) {
            call.json.push_str(json);
        }
    }

    /// Takes all calls. No more arguments will arrive.
    pub(crate) fn take(&mut self) -> Vec<WholeCall> {
        std::mem::take(&mut self.open).into_iter().map(|(_, call)| call).collect()
    }
}

impl WholeCall {
    /// Returns the arguments as a JSON object.
    pub(crate) fn object(&self) -> String {
        let mut out = crate::json::Out::new();
        let arguments = crate::transcript::Arguments::Text(crate::json::Str::plain(&*self.json));
        arguments.as_object(&mut out);
        String::from_utf8_lossy(&out.finish().to_vec()).into_owned()
    }
}

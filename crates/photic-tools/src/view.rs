//! `view`: pixels of a source, and the light facts about them.

use crate::arguments::ViewArguments;
use crate::perception::Perception;
use crate::refusal::{Refusal, RefusalCode};
use crate::tools::Tools;

impl Tools {
    /// A source as a picture.
    pub async fn view(&self, arguments: &ViewArguments) -> Result<Perception, Refusal> {
        let _ = arguments;
        std::future::ready(Err(Refusal::new(RefusalCode::Unreadable, "not built yet", ""))).await
    }
}

//! The capability `render` of a build without the feature `render`: none.

use std::sync::Arc;

use photic_tools::Render;

/// Returns `None`: this build draws pictures only, no documents.
pub(crate) fn capability() -> Option<Arc<dyn Render>> {
    None
}

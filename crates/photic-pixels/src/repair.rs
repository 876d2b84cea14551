//! Repairs a request body in one call, with pixels.

use photic::{RepairOptions, Repaired};

use crate::prepare::prepare;

/// Repairs a request body as [`photic::repair`] does, and makes the pictures that this needs: an image
/// that the endpoint would reject is shrunk or converted instead of left out.
///
/// ```
/// use photic::RepairOptions;
///
/// let body = br#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}]}"#;
/// let repaired = photic_pixels::repair(body, &RepairOptions::default());
/// assert!(!repaired.is_changed());
/// ```
pub fn repair<'a>(body: &'a [u8], options: &RepairOptions) -> Repaired<'a> {
    let mut options = options.clone();
    options.policy.pixels = true;
    photic::repair_with(body, &options, prepare)
}

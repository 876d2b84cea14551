//! Counts the 32 px patches of an image after the service has resized it.
//!
//! It is the arithmetic of the images-vision guide, written from its text, in whole numbers if
//! possible. It must never be used to price an image: it only tells whether one is refused.

/// The maximum number of patches of one image, and the resize before they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// Maximum number of patches after the resize. An image with more is refused.
    pub most: u32,
    /// The resize at `high`, and at any unknown value.
    pub high: Resize,
    /// The resize at `original`.
    pub original: Resize,
    /// `true` if an absent or `auto` detail means `original`.
    pub omitted_is_original: bool,
}

/// One resize. An absent number does not resize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resize {
    /// Maximum length of the long side.
    pub side: Option<u32>,
    /// Maximum number of patches.
    pub budget: Option<u32>,
}

impl Patches {
    /// Returns the number of patches of an image of that size under that detail.
    pub fn of(&self, (width, height): (u32, u32), detail: Option<&str>) -> u64 {
        let resize = match detail {
            Some("low") => Resize { side: Some(512), budget: None },
            Some("original") => self.original,
            None | Some("auto") if self.omitted_is_original => self.original,
            _ => self.high,
        };
        let (mut w, mut h) = (f64::from(width.max(1)), f64::from(height.max(1)));
        if let Some(side) = resize.side.map(f64::from).filter(|side| w.max(h) > *side) {
            let scale = side / w.max(h);
            (w, h) = ((w * scale).round().max(1.0), (h * scale).round().max(1.0));
        }
        let count = (w / 32.0).ceil() * (h / 32.0).ceil();
        // After the resize, an image never has more patches than the budget.
        let count = resize.budget.map_or(count, |budget| count.min(f64::from(budget)));
        count as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_counted_after_the_resize() {
        let high = Resize { side: Some(2048), budget: Some(2500) };
        let free =
            Patches { most: 30_000, high, original: Resize::default(), omitted_is_original: true };
        assert_eq!(free.of((6000, 4000), None), 188 * 125);
        assert_eq!(free.of((6000, 4000), Some("original")), 188 * 125);
        assert_eq!(free.of((6000, 4000), Some("high")), 2500);
        assert_eq!(free.of((20_000, 20_000), Some("low")), 256);
        assert_eq!(free.of((20_000, 20_000), Some("auto")), 625 * 625);
        let bound = Patches { omitted_is_original: false, ..free };
        assert_eq!(bound.of((1024, 32), None), 32);
        assert_eq!(bound.of((20_000, 1), Some("auto")), 64);
    }
}

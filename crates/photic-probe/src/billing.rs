//! What a picture was billed as: pixels, or the letters of its base64.

use serde::{Deserialize, Serialize};

/// What a picture was billed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billed {
    /// About what a picture costs.
    AsImage,
    /// What its letters cost.
    AsText,
    /// Nothing: it was thrown away before the model.
    Nothing,
    /// It was not said, or fits neither.
    #[default]
    Unknown,
}

impl Billed {
    /// For people.
    pub const fn says(self) -> &'static str {
        match self {
            Self::AsImage => "as an image",
            Self::AsText => "as text",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// What a request cost beyond the same one without pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excess {
    /// In tokens, as billed.
    pub(crate) billed: u64,
    /// In tokens, as estimated for pictures.
    pub(crate) as_image: u64,
    /// Letters of base64.
    pub(crate) base64: u64,
}

impl Excess {
    pub(crate) fn billed_as(self) -> Billed {
        let Self { billed, as_image, base64 } = self;
        // Letters of base64 make a token in one to five.
        let near_text = (base64 / 6..=base64 * 5 / 4).contains(&billed);
        if billed == 0 {
            Billed::Nothing
        } else if billed >= 5 * as_image && near_text {
            Billed::AsText
        } else if billed < 5 * as_image.max(1) {
            // Models differ a lot in what a picture costs.
            Billed::AsImage
        } else {
            Billed::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_pixels_are_told_apart() {
        let billed_as = |billed| Excess { billed, as_image: 350, base64: 40_000 }.billed_as();
        assert_eq!(billed_as(0), Billed::Nothing);
        assert_eq!(billed_as(66), Billed::AsImage);
        assert_eq!(billed_as(350), Billed::AsImage);
        assert_eq!(billed_as(3_000), Billed::Unknown);
        assert_eq!(billed_as(10_000), Billed::AsText);
        assert_eq!(billed_as(38_000), Billed::AsText);
        assert_eq!(billed_as(400_000), Billed::Unknown);
    }
}

//! Detects whether a picture was billed as an image or as the text of its base64.

use serde::{Deserialize, Serialize};

/// The way in which a picture was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billed {
    /// About the price of an image.
    AsImage,
    /// The price of its base64 as text.
    AsText,
    /// Nothing: it was dropped before the model.
    Nothing,
    /// The usage was not stated, or fits neither.
    #[default]
    Unknown,
}

impl Billed {
    /// A description for people.
    pub const fn says(self) -> &'static str {
        match self {
            Self::AsImage => "as an image",
            Self::AsText => "as text",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// The tokens of a request beyond those of its control without pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExtraTokens {
    /// Billed tokens.
    pub(crate) billed: u64,
    /// Tokens estimated for the pictures.
    pub(crate) as_image: u64,
    /// Characters of base64.
    pub(crate) base64: u64,
}

impl ExtraTokens {
    /// Decides how the pictures were billed.
    pub(crate) fn billed_as(self) -> Billed {
        let Self { billed, as_image, base64 } = self;
        // One to five characters of base64 make a token.
        let near_text = (base64 / 6..=base64 * 5 / 4).contains(&billed);
        if billed == 0 {
            Billed::Nothing
        } else if billed >= 5 * as_image && near_text {
            Billed::AsText
        } else if billed < 5 * as_image.max(1) {
            // The price of a picture differs much between models.
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
        let billed_as = |billed| ExtraTokens { billed, as_image: 350, base64: 40_000 }.billed_as();
        assert_eq!(billed_as(0), Billed::Nothing);
        assert_eq!(billed_as(66), Billed::AsImage);
        assert_eq!(billed_as(350), Billed::AsImage);
        assert_eq!(billed_as(3_000), Billed::Unknown);
        assert_eq!(billed_as(10_000), Billed::AsText);
        assert_eq!(billed_as(38_000), Billed::AsText);
        assert_eq!(billed_as(400_000), Billed::Unknown);
    }
}

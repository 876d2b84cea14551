//! Recipes: instructions of a plan for the host that has the pixels. The plan decodes none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::profile::Limits;
use crate::transcript::MediaId;

/// Instructions for making the picture that is sent for a medium.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipe {
    /// One picture, within bounds and of an accepted type.
    Fit(Fit),
    /// One picture made of several, in numbered cells.
    Sheet {
        /// The media that the cells show, in order.
        members: Vec<MediaId>,
        /// The bounds of the sheet.
        fit: Fit,
    },
}

/// Bounds of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fit {
    /// Maximum length of the longest side, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_edge: Option<u32>,
    /// Minimum length of the shortest side, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_edge: Option<u32>,
    /// Maximum number of 32 px patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_patches: Option<u32>,
    /// Maximum bytes after base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_base64_bytes: Option<u64>,
    /// The media types to choose from.
    pub types: Vec<String>,
}

/// A picture that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its media type.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: String,
    /// Its width and height.
    pub size: (u32, u32),
}

/// The pictures that were made for a plan. A picture that is missing could not be made.
pub type Prepared = BTreeMap<MediaId, Made>;

impl Recipe {
    /// Returns the bounds.
    pub const fn fit(&self) -> &Fit {
        match self {
            Self::Fit(fit) | Self::Sheet { fit, .. } => fit,
        }
    }

    /// Returns the media that the cells of a sheet show, in order; none if it is one picture.
    pub fn members(&self) -> &[MediaId] {
        match self {
            Self::Fit(_) => &[],
            Self::Sheet { members, .. } => members,
        }
    }

    /// Returns the recipe with no side longer than `edge`.
    pub(super) fn no_larger_than(mut self, edge: Option<u32>) -> Self {
        let fit = self.fit_mut();
        fit.max_edge = fit.max_edge.into_iter().chain(edge).min();
        self
    }

    pub(super) const fn fit_mut(&mut self) -> &mut Fit {
        match self {
            Self::Fit(fit) | Self::Sheet { fit, .. } => fit,
        }
    }
}

impl Fit {
    /// Returns the bounds that an endpoint puts on each picture.
    pub(super) fn within(limits: &Limits, types: &[String]) -> Self {
        // Four characters encode three bytes.
        let encoded = limits.image_raw_bytes.map(|most| most / 3 * 4);
        Self {
            max_edge: limits.edge,
            min_edge: limits.min_edge,
            max_patches: limits.patches,
            max_base64_bytes: limits.image_base64_bytes.into_iter().chain(encoded).min(),
            types: types.to_vec(),
        }
    }

    /// Returns the approximate size of a picture within the bounds.
    pub fn size(&self, (width, height): (u32, u32)) -> (u32, u32) {
        let (wide, high) = (f64::from(width.max(1)), f64::from(height.max(1)));
        let mut scale = 1.0_f64;
        if let Some(least) = self.min_edge {
            scale = scale.max((f64::from(least) / wide.min(high)).ceil());
        }
        if let Some(most) = self.max_edge {
            scale = scale.min(f64::from(most) / wide.max(high));
        }
        if let Some(most) = self.max_patches {
            // A partial patch counts as a whole one.
            let room = f64::from(most).sqrt() - 1.0;
            let square = (wide * high).sqrt();
            scale = scale.min((room.max(1.0) * 32.0) / square);
        }
        let scaled = |side: f64| ((side * scale).floor() as u32).max(1);
        (scaled(wide), scaled(high))
    }
}

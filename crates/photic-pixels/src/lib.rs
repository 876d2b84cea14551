//! Every image becomes exactly what the model should see: bounded, fitted, with its geometry.

pub mod chart;
pub mod decode;
pub mod encode;
pub mod fit;
pub mod geometry;
pub mod header;
pub mod legibility;
mod limits;
mod prepare;
mod raster;
mod refusal;
mod repair;
pub mod resize;
pub mod strip;
mod view;

pub use limits::{Limits, Meter};
pub use prepare::{fitted, merged, prepare};
pub use raster::{Layout, Raster};
pub use refusal::{Refusal, RefusalCode};
pub use repair::repair;
pub use view::{Drawn, View, ViewRequest, Warning, drawn, sheet, view};

//! Turns image files into pictures that a model can read: decoded under limits, upright, in sRGB,
//! fitted to what the endpoint accepts, and encoded.
//!
//! [`view`] does all of it for one file and returns a [`View`] with the encoded bytes, their price
//! in tokens, and the map from its pixels back to the source. [`prepare`] makes the pictures that a
//! plan of `photic` asks for. Input is untrusted: every decoder runs under [`DecodeLimits`], and a
//! file that cannot be shown is answered with a [`Refusal`], never with a panic.
//!
//! ```
//! use photic::{Profile, Wire};
//! use photic_pixels::chart::Chart;
//! use photic_pixels::{ViewRequest, view};
//!
//! let file = Chart::of(7).png()?; // any image file
//! let profile = Profile::generic(Wire::Anthropic);
//! let view = view(&file, &ViewRequest::new(&profile))?;
//! assert_eq!(view.media_type, "image/png");
//! assert_eq!((view.width, view.height), (384, 288));
//! # Ok::<(), photic_pixels::Refusal>(())
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`header`] | reads format, size, frames, orientation and color from the first bytes |
//! | [`decode`] | decodes a file, or a region of it, under limits |
//! | [`resize`] | scales rasters |
//! | [`fit`] | chooses the size that an endpoint takes without scaling; cuts tiles |
//! | [`geometry`] | rectangles and maps between view and source |
//! | [`legibility`] | estimates the height of the smallest text |
//! | [`encode`] | encodes a raster within a byte limit |
//! | [`strip`] | removes metadata without decoding |
//! | [`chart`] | test pictures, and the probability of guessing what they show |
//! | `view` | [`view`], [`sheet`] and [`view_page`]: one picture with all facts about it |
//! | `prepare` | [`prepare`]: the pictures that a plan asks for |
//!
//! The crate opens no files and no connections, draws no documents (`photic-render`
//! does), and writes no metadata.

pub mod chart;
pub mod decode;
mod diagnose;
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

pub use diagnose::diagnose;
pub use limits::{DecodeLimits, Meter};
pub use prepare::{fitted, merged, prepare};
pub use raster::{Layout, Raster};
pub use refusal::{Refusal, RefusalCode};
pub use repair::repair;
pub use view::{DrawnPage, View, ViewRequest, Warning, sheet, view, view_page};

//! One binary for all integration tests.

mod decode;
mod encode;
mod fit;
mod font;
mod geometry;
mod hostile;
mod legibility;
mod prepare;
mod scaling;
mod strip;
mod view;

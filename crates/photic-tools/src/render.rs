//! The renderer: a capability the host injects for sources that are no bitmaps.
//!
//! None ships here. A renderer gets bytes and gives back the bytes of a picture; it must open no
//! file and no connection of its own accord.

use std::fmt;

use photic_pixels::geometry::Rect;

use crate::content::Content;
use crate::refusal::Refusal;

/// What is to be made visible.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// The source.
    pub bytes: &'a [u8],
    /// What it was sniffed as.
    pub content: Content,
    /// Which page, from 1.
    pub page: u32,
    /// The part that will be shown, where the renderer can afford more detail for it. What it
    /// returns still shows the whole page.
    pub region: Option<Rect>,
    /// Longest side that the model can be shown.
    pub edge: Option<u32>,
}

/// Turns a source of some kind into a picture. Calls may block; they are made on a worker.
pub trait Render: Send + Sync + fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Whether it renders this kind of source.
    fn renders(&self, content: Content) -> bool;

    /// The bytes of a picture, of a format that is decoded here.
    fn render(&self, request: &RenderRequest<'_>) -> Result<Vec<u8>, Refusal>;
}

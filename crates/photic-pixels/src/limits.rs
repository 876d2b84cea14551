//! The bounds of every decode: none runs without them.

use std::time::Duration;

/// What a decoder may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of the file itself.
    pub file_bytes: usize,
    /// Most pixels of one frame.
    pub pixels: u64,
    /// Most frames that are counted; more is a refusal.
    pub frames: u32,
    /// Most bytes that decoding may hold at once, the decoder's own buffers included.
    pub memory: u64,
    /// Longest time a decode may take.
    pub time: Duration,
}

impl Default for Limits {
    /// Room for a 64 MP photo, and for nothing that was made to hurt.
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            pixels: 64_000_000,
            frames: 10_000,
            memory: 512 << 20,
            time: Duration::from_secs(10),
        }
    }
}

//! Files that have broken sessions: cut, empty, stubs, and files that are not pictures at all.
//!
//! This is the small hostile set of the unit and wire tests. It must never hold a file that a
//! provider takes. The exception is [`stub`], a real picture of one pixel that providers refuse
//! all the same.

use super::png::{SIGNATURE, png};

/// Returns a PNG cut in the middle of its pixels: the header is valid, the end is missing.
pub fn truncated_png() -> Vec<u8> {
    let mut bytes = super::png_noise(32, 32, 7);
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// Returns a JPEG without its last third.
pub fn truncated_jpeg() -> Vec<u8> {
    let mut bytes = super::jpeg();
    bytes.truncate(bytes.len() * 2 / 3);
    bytes
}

/// Returns the eight bytes every PNG starts with, and nothing else.
pub fn png_signature() -> Vec<u8> {
    SIGNATURE.to_vec()
}

/// Returns a PNG with damaged pixels: every length is right, one checksum is wrong.
pub fn png_bad_crc() -> Vec<u8> {
    let mut bytes = png(8, 8, [1, 2, 3]);
    let end = bytes.len() - 20;
    bytes[end] ^= 0x40;
    bytes
}

/// Returns the 69-byte PNG of one black pixel that some tools send for "no screenshot".
pub fn stub() -> Vec<u8> {
    png(1, 1, [0, 0, 0])
}

/// Returns an error page that a download saved under the name of a picture.
pub fn html() -> Vec<u8> {
    b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title></head>\
      <body><h1>Forbidden</h1></body></html>\n"
        .to_vec()
}

/// Returns the pointer file of a large-file store, checked out without its content.
pub fn lfs_pointer() -> Vec<u8> {
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n".to_vec()
}

/// Returns no bytes.
pub fn empty() -> Vec<u8> {
    Vec::new()
}

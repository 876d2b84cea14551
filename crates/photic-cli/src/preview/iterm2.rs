//! iTerm2's inline images: one escape sequence with the whole file.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Draws a file at a width in columns, and leaves the cursor on the line below.
pub(super) fn write(mut out: impl Write, file: &[u8], columns: u32) -> io::Result<()> {
    let (size, text) = (file.len(), STANDARD.encode(file));
    // The terminal derives the height from the aspect ratio.
    writeln!(
        out,
        "\x1b]1337;File=inline=1;size={size};width={columns};preserveAspectRatio=1:{text}\x07"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_header_names_size_and_width() {
        let mut out = Vec::new();
        super::write(&mut out, b"abc", 40).unwrap();
        let expected = "\x1b]1337;File=inline=1;size=3;width=40;preserveAspectRatio=1:YWJj\x07\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

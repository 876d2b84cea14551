//! kitty's graphics protocol: a PNG file in base64, in chunks.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Largest payload of one escape sequence.
const CHUNK: usize = 4096;

/// Draws a file at a width in columns, and leaves the cursor on the line below.
pub(super) fn write(mut out: impl Write, png: &[u8], columns: u32) -> io::Result<()> {
    let text = STANDARD.encode(png);
    let mut chunks = text.as_bytes().chunks(CHUNK).peekable();
    // Display at once (`a=T`) a PNG (`f=100`), without a response (`q=2`).
    write!(out, "\x1b_Ga=T,f=100,q=2,c={columns},")?;
    while let Some(chunk) = chunks.next() {
        write!(out, "m={};", u8::from(chunks.peek().is_some()))?;
        out.write_all(chunk)?;
        out.write_all(b"\x1b\\")?;
        if chunks.peek().is_some() {
            out.write_all(b"\x1b_G")?;
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(png: &[u8]) -> String {
        let mut out = Vec::new();
        write(&mut out, png, 7).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_small_file_is_one_sequence() {
        assert_eq!(written(b"abc"), "\x1b_Ga=T,f=100,q=2,c=7,m=0;YWJj\x1b\\\n");
        // A full chunk needs no second one.
        assert_eq!(written(&[0; 3072]).matches("\x1b_G").count(), 1);
    }

    #[test]
    fn a_large_file_comes_in_chunks_that_join_to_the_file() {
        let file: Vec<u8> = (0..7000_u32).map(|n| (n % 251) as u8).collect();
        let text = written(&file);
        let mut joined = String::new();
        let sequences: Vec<&str> = text.strip_suffix("\x1b\\\n").unwrap().split("\x1b\\").collect();
        for (number, sequence) in sequences.iter().enumerate() {
            let (control, data) = sequence.strip_prefix("\x1b_G").unwrap().split_once(';').unwrap();
            let more = u8::from(number + 1 < sequences.len());
            let first = if number == 0 { "a=T,f=100,q=2,c=7," } else { "" };
            assert_eq!(control, format!("{first}m={more}"));
            assert!(data.len() == 4096 || more == 0 && data.len() < 4096, "{}", data.len());
            joined.push_str(data);
        }
        assert_eq!(sequences.len(), 3);
        assert_eq!(STANDARD.decode(joined).unwrap(), file);
    }
}

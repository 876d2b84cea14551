//! Reads files line by line; only the longest line is held in memory.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Bytes that are read at once: few enough to stay in the processor's cache.
const READ_BYTES: usize = 1 << 17;

/// The lines of a file.
#[derive(Debug)]
pub(crate) struct Lines {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Start of the data that was not returned yet.
    start: usize,
    /// End of the data that was read.
    end: usize,
    /// End of the data that is known to hold no line end.
    searched: usize,
}

impl Lines {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::Read(path.to_owned(), error))?;
        let buffer = vec![0; 2 * READ_BYTES];
        Ok(Self { file, path: path.to_owned(), buffer, start: 0, end: 0, searched: 0 })
    }

    /// The next line with its end; the last line may have none.
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, Error> {
        loop {
            let fresh = &self.buffer[self.searched..self.end];
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                let line = self.start..self.searched + at + 1;
                (self.start, self.searched) = (line.end, line.end);
                return Ok(Some(&self.buffer[line]));
            }
            self.searched = self.end;
            if self.fill()? == 0 {
                let line = self.start..self.end;
                self.start = self.end;
                return Ok((!line.is_empty()).then(|| &self.buffer[line]));
            }
        }
    }

    /// Reads more data, and returns the number of bytes.
    fn fill(&mut self) -> Result<usize, Error> {
        // Only the rest of a line is moved: the buffer never grows past the longest line.
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < READ_BYTES {
            let longer = self.buffer.len() * 2;
            self.buffer.resize(longer, 0);
        }
        let count = self.file.read(&mut self.buffer[self.end..self.end + READ_BYTES]);
        let count = count.map_err(|error| Error::Read(self.path.clone(), error))?;
        self.end += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_long() {
        let path = std::env::temp_dir().join(format!("photic-lines-{}", std::process::id()));
        let lengths = [0, 1, READ_BYTES - 1, READ_BYTES, 5 * READ_BYTES + 3, 7, 2 * READ_BYTES];
        let mut text = Vec::new();
        for length in lengths {
            text.extend(std::iter::repeat_n(b'x', length));
            text.push(b'\n');
        }
        text.extend(b"no end");
        std::fs::write(&path, &text).unwrap();
        let mut lines = Lines::open(&path).unwrap();
        let mut read = Vec::new();
        let mut count = 0;
        while let Some(line) = lines.next_line().unwrap() {
            read.extend_from_slice(line);
            count += 1;
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!((count, read == text), (lengths.len() + 1, true));
    }
}

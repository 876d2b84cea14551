//! Bits of the coded data of a JPEG file: Huffman codes are read, and copied as they are.

/// The length and value of the code that a sequence of 16 bits begins with; length 0 for none.
pub(super) type CodeTable = Vec<(u8, u8)>;

/// A table of all sequences of 16 bits. `None` for codes that do not fit.
pub(super) fn code_table(counts: &[u8], values: &[u8]) -> Option<CodeTable> {
    let mut table = vec![(0, 0); 1 << 16];
    let (mut next, mut values) = (0_usize, values.iter());
    for (length, &count) in (1_u8..).zip(counts) {
        let step = 1 << (16 - length);
        for &value in values.by_ref().take(usize::from(count)) {
            table.get_mut(next..next + step)?.fill((length, value));
            next += step;
        }
    }
    Some(table)
}

/// Reads bits of coded data.
pub(super) struct BitReader<'a> {
    data: &'a [u8],
    at: usize,
    held: u64,
    count: u8,
    /// Number of bits that are held and not in the data.
    made_up: u32,
}

impl<'a> BitReader<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0, held: 0, count: 0, made_up: 0 }
    }

    /// Holds at least 32 bits; at a marker or the end they are zeros.
    fn fill(&mut self) {
        while self.count <= 48 {
            let byte = match (self.data.get(self.at), self.data.get(self.at + 1)) {
                (Some(0xff), Some(0)) => {
                    self.at += 2;
                    0xff
                }
                (Some(0xff) | None, _) => {
                    self.made_up += 8;
                    0
                }
                (Some(&byte), _) => {
                    self.at += 1;
                    byte
                }
            };
            self.held = self.held << 8 | u64::from(byte);
            self.count += 8;
        }
    }

    /// Reads a code: its value, its bits, and their number.
    pub(super) fn code(&mut self, table: &CodeTable) -> Option<(u8, u32, u8)> {
        if self.count < 32 {
            self.fill();
        }
        let next = (self.held >> (self.count - 16)) as usize & 0xffff;
        let (length, value) = *table.get(next)?;
        if length == 0 {
            return None;
        }
        self.count -= length;
        Some((value, (next >> (16 - length)) as u32, length))
    }

    /// Reads up to 16 bits.
    pub(super) fn bits(&mut self, count: u8) -> Option<u32> {
        if self.count < 32 {
            self.fill();
        }
        self.count = self.count.checked_sub(count)?;
        Some((self.held >> self.count) as u32 & ((1 << count) - 1))
    }

    /// Returns `true` if all bits that were read are in the data.
    pub(super) const fn is_sound(&self) -> bool {
        self.count as u32 >= self.made_up
    }

    /// Goes past a restart marker.
    pub(super) fn restart(&mut self) -> Option<()> {
        // Bytes that were read ahead end at the marker.
        self.held = 0;
        self.count = 0;
        self.made_up = 0;
        while self.data.get(self.at + 1) == Some(&0xff) {
            self.at += 1;
        }
        let is_restart = self.data.get(self.at) == Some(&0xff)
            && matches!(self.data.get(self.at + 1), Some(0xd0..=0xd7));
        self.at += 2;
        is_restart.then_some(())
    }
}

/// Writes bits of coded data.
#[derive(Default)]
pub(super) struct BitWriter {
    out: Vec<u8>,
    held: u64,
    count: u8,
}

impl BitWriter {
    /// Number of bytes that were written.
    pub(super) const fn len(&self) -> usize {
        self.out.len()
    }

    /// Writes the lowest `count` bits, at most 16.
    pub(super) fn put(&mut self, bits: u32, count: u8) {
        self.held = self.held << count | u64::from(bits);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            let byte = (self.held >> self.count) as u8;
            self.out.push(byte);
            if byte == 0xff {
                self.out.push(0);
            }
        }
    }

    /// Fills the last byte with ones.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let missing = (8 - self.count % 8) % 8;
        self.put((1 << missing) - 1, missing);
        self.out
    }
}

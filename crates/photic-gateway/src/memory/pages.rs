//! The memory of a buffer, which is given back to the system as soon as it is dropped.
//!
//! The allocator gives freed memory back in the background. Measured: half a second later. Until
//! then it is in use and charged to nobody, so a burst of large bodies would take about twice the
//! budget. Large buffers are therefore mapped, and small ones left to the allocator.

use memmap2::MmapMut;

/// Minimum size of a mapping.
const LARGE: usize = 1 << 20;

/// Bytes with room for more. Unused room takes no memory.
#[derive(Debug)]
pub(super) enum Pages {
    /// Memory from the allocator.
    Allocated(Vec<u8>),
    /// Memory from the system, and how much of it is used.
    Mapped(MmapMut, usize),
}

impl Pages {
    /// Takes memory with room for so many bytes. The allocator is asked if the system refuses.
    pub(super) fn with_room(room: usize) -> Self {
        (room >= LARGE)
            .then(|| MmapMut::map_anon(room).ok())
            .flatten()
            .map_or_else(|| Self::Allocated(Vec::with_capacity(room)), |map| Self::Mapped(map, 0))
    }

    /// Returns the number of bytes that there is room for.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Allocated(bytes) => bytes.capacity(),
            Self::Mapped(map, _) => map.len(),
        }
    }

    /// Forgets the bytes, and keeps the memory.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Allocated(bytes) => bytes.clear(),
            Self::Mapped(_, length) => *length = 0,
        }
    }

    /// Appends bytes. If there is no room for them, everything is moved to where there is.
    pub(super) fn extend(&mut self, piece: &[u8]) {
        let length = self.as_ref().len() + piece.len();
        if length > self.room() {
            let mut larger = Self::with_room(length.max(self.room() * 2));
            larger.fill(self.as_ref());
            *self = larger;
        }
        self.fill(piece);
    }

    /// Appends bytes that there is room for.
    fn fill(&mut self, piece: &[u8]) {
        match self {
            Self::Allocated(bytes) => bytes.extend_from_slice(piece),
            Self::Mapped(map, length) => {
                let end = *length + piece.len();
                map[*length..end].copy_from_slice(piece);
                *length = end;
            }
        }
    }
}

impl Default for Pages {
    fn default() -> Self {
        Self::Allocated(Vec::new())
    }
}

impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Allocated(bytes) => bytes,
            Self::Mapped(map, length) => &map[..*length],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_what_a_vector_would() {
        let pieces: Vec<Vec<u8>> =
            (0..40_u8).map(|number| vec![number; usize::from(number) * 9000]).collect();
        for room in [0, 100, LARGE - 1, LARGE, 3 * LARGE] {
            let mut pages = Pages::with_room(room);
            assert!(pages.room() >= room);
            assert_eq!(matches!(pages, Pages::Mapped(..)), room >= LARGE);
            for _ in 0..2 {
                for piece in &pieces {
                    pages.extend(piece);
                }
                assert!(pages.as_ref() == pieces.concat());
                pages.clear();
                assert!(pages.as_ref().is_empty());
            }
            assert!(matches!(pages, Pages::Mapped(..)), "it grew");
        }
    }

    /// Of a gigabyte that is asked for and not used, nothing is taken.
    ///
    /// It runs in a process of its own, because other tests would change what is measured.
    #[cfg(target_os = "linux")]
    #[test]
    fn dropped_pages_are_gone_at_once() {
        const IS_CHILD: &str = "PHOTIC_TEST_MEASURES";
        if std::env::var_os(IS_CHILD).is_none() {
            let run = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "memory::pages::tests::dropped_pages_are_gone_at_once"])
                .env(IS_CHILD, "1")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
        };
        let piece = vec![1; 1 << 20];
        let before = resident();
        let taken = || resident().saturating_sub(before);
        let mut pages = Pages::with_room(1 << 30);
        assert!(taken() < 16 << 20, "unused room");
        for _ in 0..64 {
            pages.extend(&piece);
        }
        assert!(taken() >= 60 << 20);
        drop(pages);
        assert!(taken() < 16 << 20, "{}", taken());
    }
}

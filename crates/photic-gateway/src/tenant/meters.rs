//! The meters: count what callers used of their limits, in memory or in a file that processes share.
//!
//! The file has a slot of a fixed size for each caller, and is locked while a slot changes. A process
//! takes a part of a limit at once, so that most requests change nothing in the file.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The first bytes of a file of meters: its name and the version of its format.
const MAGIC: [u8; 16] = *b"photic meters 1\n";
/// The number of meters of a caller.
pub(super) const METERS: usize = 4;
/// The bytes of a slot: the digest of the caller's name, and four numbers for each meter.
const SLOT: usize = 16 + METERS * 4 * 8;
/// Seconds after which a reservation of a process that does not say more is counted as spent.
const RESERVED_FOR: u64 = 3600;

/// The digest of a caller's name.
pub(super) type SlotId = [u8; 16];

/// Use of one limit of a caller, in one window of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// The number of the window that `spent` is about.
    window: u64,
    pub(super) spent: u64,
    /// Reserved for running requests, and by processes for requests to come.
    pub(super) reserved: u64,
    /// The time of the last change, in seconds since 1970.
    touched: u64,
}

/// The counts of one caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot(pub(super) [Count; METERS]);

/// The reason for which a slot could not be changed.
#[derive(Debug)]
pub(super) enum Locked {
    /// Another process changes the meters at the moment.
    Busy,
    /// The file cannot be read or written.
    Failed,
}

/// The counts of all callers.
#[derive(Debug)]
pub(super) enum MeterStore {
    /// Of this process alone.
    Memory(Mutex<HashMap<SlotId, Slot>>),
    /// Of all processes that share the file.
    File(Mutex<MeterFile>),
}

/// An open file.
#[derive(Debug)]
pub(super) struct MeterFile {
    file: File,
    /// The positions of known slots. A slot never moves.
    places: HashMap<SlotId, u64>,
    /// The length up to which slots are known.
    known: u64,
}

impl Count {
    /// Begins a new window, if `window` is later than the one that is counted. The clocks of two
    /// processes may differ at its edge, so a window never goes back.
    pub(super) fn roll(&mut self, window: u64, now: u64) {
        if self.reserved > 0 && now.saturating_sub(self.touched) > RESERVED_FOR {
            self.spent = self.spent.saturating_add(std::mem::take(&mut self.reserved));
        }
        if window > self.window {
            (self.window, self.spent) = (window, 0);
        }
        self.touched = now;
    }
}

impl MeterStore {
    /// Opens the meters in a file, or creates one in memory.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened or created, or has no meters.
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::Memory(Mutex::default())) };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        file.lock()?;
        let mut magic = Vec::new();
        (&file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        let checked = if magic.is_empty() {
            file.write_all(&MAGIC)
        } else if magic == MAGIC {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the file has no meters of photic"))
        };
        file.unlock()?;
        checked?;
        let known = MAGIC.len() as u64;
        Ok(Self::File(Mutex::new(MeterFile { file, places: HashMap::new(), known })))
    }

    /// Changes the slot of a caller. `change` may be called again if this fails, so it must not change
    /// anything else.
    pub(super) fn update<T>(
        &self,
        id: SlotId,
        change: impl FnOnce(&mut Slot) -> T,
    ) -> Result<T, Locked> {
        match self {
            Self::Memory(slots) => {
                let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(change(slots.entry(id).or_default()))
            }
            Self::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                match file.file.try_lock() {
                    Ok(()) => {}
                    Err(TryLockError::WouldBlock) => return Err(Locked::Busy),
                    Err(TryLockError::Error(_)) => return Err(Locked::Failed),
                }
                let changed = file.change(id, change);
                let unlocked = file.file.unlock();
                changed.and_then(|value| unlocked.map(|()| value)).map_err(|_| Locked::Failed)
            }
        }
    }
}

impl MeterFile {
    fn change<T>(&mut self, id: SlotId, change: impl FnOnce(&mut Slot) -> T) -> io::Result<T> {
        let (place, mut slot) = match self.find(id)? {
            Some(place) => (place, self.read(place)?),
            None => (self.known, Slot::default()),
        };
        let value = change(&mut slot);
        let mut bytes = Vec::with_capacity(SLOT);
        bytes.extend_from_slice(&id);
        for Count { window, spent, reserved, touched } in slot.0 {
            for number in [window, spent, reserved, touched] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(&bytes)?;
        if place == self.known {
            self.known += SLOT as u64;
            self.places.insert(id, place);
        }
        Ok(value)
    }

    /// Finds a slot, also one that another process has added.
    fn find(&mut self, id: SlotId) -> io::Result<Option<u64>> {
        if let Some(place) = self.places.get(&id) {
            return Ok(Some(*place));
        }
        self.file.seek(SeekFrom::Start(self.known))?;
        let mut added = Vec::new();
        self.file.read_to_end(&mut added)?;
        // A slot that was not written to its end is written over.
        for slot in added.chunks_exact(SLOT) {
            let mut name = SlotId::default();
            name.copy_from_slice(&slot[..16]);
            self.places.insert(name, self.known);
            self.known += SLOT as u64;
        }
        Ok(self.places.get(&id).copied())
    }

    fn read(&mut self, place: u64) -> io::Result<Slot> {
        let mut bytes = [0; SLOT];
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(&mut bytes)?;
        let mut numbers = bytes[16..].chunks_exact(8).map(|number| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(number);
            u64::from_le_bytes(bytes)
        });
        let mut next = || numbers.next().unwrap_or_default();
        let mut slot = Slot::default();
        for count in &mut slot.0 {
            *count = Count { window: next(), spent: next(), reserved: next(), touched: next() };
        }
        Ok(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_see_what_others_wrote() {
        let path = std::env::temp_dir().join(format!("photic-meters-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let (one, other) =
            (MeterStore::open(Some(&path)).unwrap(), MeterStore::open(Some(&path)).unwrap());
        for (meters, id, expected) in
            [(&one, [1; 16], 5), (&other, [2; 16], 5), (&other, [1; 16], 10), (&one, [2; 16], 10)]
        {
            let spent = meters.update(id, |slot| {
                slot.0[3].spent += 5;
                slot.0[3].spent
            });
            assert_eq!(spent.unwrap(), expected);
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), (16 + 2 * SLOT) as u64);
        std::fs::write(&path, "something else, and long enough").unwrap();
        assert!(MeterStore::open(Some(&path)).unwrap_err().to_string().contains("no meters"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_window_never_goes_back_and_an_old_reservation_is_spent() {
        let mut count = Count::default();
        count.roll(5, 100);
        (count.spent, count.reserved) = (7, 3);
        count.roll(4, 100);
        assert_eq!((count.window, count.spent, count.reserved), (5, 7, 3));
        count.roll(6, 120);
        assert_eq!((count.spent, count.reserved), (0, 3), "running requests are not forgotten");
        count.roll(6, 120 + RESERVED_FOR + 1);
        assert_eq!((count.spent, count.reserved), (3, 0));
    }
}

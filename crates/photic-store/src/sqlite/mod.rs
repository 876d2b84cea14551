//! The record in `SQLite`: one file, shared by processes, synced at every commit.
//!
//! This module owns the connection. The statements are in the other files, one topic each.

mod append;
mod collect;
mod handles;
mod history;
mod media;
mod outcomes;
mod read;
mod sessions;
mod work;

use std::error::Error as StdError;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::error::Error;
pub use collect::KeptBlobs;
pub use sessions::SessionTotals;

/// The record, in `record.db` below a directory.
#[derive(Debug)]
pub struct Sqlite {
    connection: Mutex<Connection>,
}

/// Scripts that lead from each format to the next. `user_version` counts those that were applied.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema.sql"),
    include_str!("format-2.sql"),
    include_str!("format-3.sql"),
    include_str!("format-4.sql"),
];
const FORMAT: u32 = MIGRATIONS.len() as u32;
/// Longest wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

impl Sqlite {
    /// Opens the record below a directory. Creates both if they do not exist.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        crate::private::make_directory(directory).map_err(Error::Directory)?;
        let path = directory.join("record.db");
        // `SQLite` gives the files beside it the mode of this one.
        for path in [&path, &directory.join("record.db-wal"), &directory.join("record.db-shm")] {
            crate::private::tighten_file(path).map_err(Error::Directory)?;
        }
        match crate::private::create_file(&path) {
            // An existing record must stay readable when the disk is full.
            Err(error) if !path.exists() => return Err(Error::Directory(error)),
            _ => {}
        }
        match Self::connect_in_turn(&path) {
            // There is no space for the shared-memory file. A single process can read without it.
            Err(Error::Full(error) | Error::Record(error)) if is_about_room(&*error) => {
                Self::connect(&path, "exclusive")
            }
            other => other,
        }
    }

    /// Connects and retries while the file is locked. The process that opens a new record switches
    /// its journal to WAL, and `SQLite` reports this lock at once instead of waiting for the busy
    /// timeout.
    fn connect_in_turn(path: &Path) -> Result<Self, Error> {
        let since = Instant::now();
        loop {
            match Self::connect(path, "normal") {
                Err(Error::Record(error)) if is_busy(&*error) && since.elapsed() < BUSY_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }

    fn connect(path: &Path, locking: &str) -> Result<Self, Error> {
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        connection.pragma_update(None, "locking_mode", locking).map_err(failed)?;
        connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        connection.pragma_update(None, "synchronous", "full").map_err(failed)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // Forgotten data is erased from the file, too.
        connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        let record = Self { connection: Mutex::new(connection) };
        record.make()?;
        Ok(record)
    }

    /// Creates the tables or migrates them to this format.
    fn make(&self) -> Result<(), Error> {
        let format = |connection: &Connection| {
            connection.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))
        };
        let mut connection = self.connection();
        let found = format(&connection).map_err(failed)?;
        if found > FORMAT {
            return Err(Error::TooNew { found, known: FORMAT });
        }
        if found == FORMAT {
            return Ok(());
        }
        let mut make = || {
            let transaction = begin(&mut connection)?;
            // Another process may have been faster.
            let found = format(&transaction).map_err(failed)?;
            for step in MIGRATIONS.iter().skip(found as usize) {
                transaction.execute_batch(step).map_err(failed)?;
            }
            transaction.pragma_update(None, "user_version", FORMAT.max(found)).map_err(failed)?;
            transaction.commit().map_err(failed)
        };
        match make() {
            // An older format can be read without the new tables.
            Err(Error::Full(_)) if found > 0 => Ok(()),
            other => other,
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panicking transaction was rolled back, so the state is consistent.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a transaction that excludes other writers.
fn begin(connection: &mut Connection) -> Result<Transaction<'_>, Error> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)
}

/// Converts an error of `SQLite`. This is a function and no `From`, so that the version of the
/// library is not part of the public API.
fn failed(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Full(error.into()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged("it is not a readable database")
        }
        _ => Error::Record(error.into()),
    }
}

fn is_busy(error: &(dyn StdError + 'static)) -> bool {
    code(error) == Some(ErrorCode::DatabaseBusy)
}

/// Recognizes errors of a full disk. A locked file is excluded, because exclusive access would lock
/// out its other users.
fn is_about_room(error: &(dyn StdError + 'static)) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, SystemIoFailure};
    matches!(code(error), Some(CannotOpen | DiskFull | SystemIoFailure))
}

fn code(error: &(dyn StdError + 'static)) -> Option<ErrorCode> {
    error.downcast_ref::<rusqlite::Error>()?.sqlite_error_code()
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

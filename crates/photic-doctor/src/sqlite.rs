//! Sessions in `SQLite`: rows are records. Databases are copied by `SQLite` and never written in
//! place.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::error::Error;
use crate::format::kind::SessionFormat;
use crate::replace;

/// The table that holds the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionTable {
    /// `part.data` of opencode.
    Parts,
    /// `messages.content_json` of goose.
    Messages,
    /// `messages.content_json` of versions that mark compacted messages as not for the model.
    VisibleMessages,
}

/// One record.
#[derive(Debug)]
pub(crate) struct SessionRow<'r> {
    pub(crate) conversation: String,
    pub(crate) number: i64,
    pub(crate) model: Option<String>,
    pub(crate) text: &'r [u8],
}

impl SessionTable {
    /// The query for all records.
    const fn select(self) -> &'static str {
        match self {
            Self::Parts => {
                "SELECT part.rowid, part.session_id, CAST(part.data AS BLOB),
                   coalesce(json_extract(message.data, '$.modelID'), json_extract(message.data, '$.model.modelID'))
                 FROM part LEFT JOIN message ON message.id = part.message_id
                 ORDER BY part.session_id, part.id"
            }
            Self::Messages => {
                "SELECT rowid, session_id, CAST(content_json AS BLOB), NULL
                 FROM messages ORDER BY session_id, rowid"
            }
            Self::VisibleMessages => {
                "SELECT rowid, session_id, CAST(content_json AS BLOB), NULL FROM messages
                 WHERE coalesce(json_extract(metadata_json, '$.agentVisible'), 1)
                 ORDER BY session_id, rowid"
            }
        }
    }

    /// The statement that replaces a record.
    const fn update(self) -> &'static str {
        match self {
            Self::Parts => "UPDATE part SET data = ?2 WHERE rowid = ?1",
            Self::Messages | Self::VisibleMessages => {
                "UPDATE messages SET content_json = ?2 WHERE rowid = ?1"
            }
        }
    }
}

/// Detects the agent of a database.
pub(crate) fn detect(path: &Path) -> Result<(SessionFormat, SessionTable), Error> {
    let database = open(path)?;
    let has = |table: &str, column: &str| {
        let query = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        database.query_row(query, [table, column], |row| row.get::<_, i64>(0))
    };
    let failed = in_database(path);
    if has("part", "data").map_err(failed)? == 1 && has("part", "message_id").map_err(failed)? == 1
    {
        return Ok((SessionFormat::OpenCode, SessionTable::Parts));
    }
    if has("messages", "content_json").map_err(failed)? == 1 {
        let is_marked = has("messages", "metadata_json").map_err(failed)? == 1;
        let table = if is_marked { SessionTable::VisibleMessages } else { SessionTable::Messages };
        return Ok((SessionFormat::Goose, table));
    }
    Err(Error::UnknownFormat(path.to_owned()))
}

/// Reads all records, grouped by conversation and in order.
pub(crate) fn each(
    path: &Path,
    table: SessionTable,
    visit: &mut dyn FnMut(SessionRow<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = in_database(path);
    let database = open(path)?;
    let mut statement = database.prepare(table.select()).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let text = row.get_ref(2).map_err(failed)?;
        visit(SessionRow {
            conversation: row.get(1).map_err(failed)?,
            number: row.get(0).map_err(failed)?,
            model: row.get(3).map_err(failed)?,
            text: text.as_blob().unwrap_or_default(),
        })?;
    }
    Ok(())
}

/// Makes a complete copy, including changes that are still in the log.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = in_database(from);
    // `VACUUM INTO` never overwrites; an existing file was left by a failed copy.
    let _ = std::fs::remove_file(to);
    open(from)?.execute("VACUUM INTO ?1", [to.to_string_lossy()]).map_err(failed).map(drop)
}

/// Replaces records for which `change` returns a new text.
pub(crate) fn rewrite(
    path: &Path,
    table: SessionTable,
    change: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<(), Error> {
    let failed = in_database(path);
    let mut new = Vec::new();
    each(path, table, &mut |row| {
        if let Some(text) = change(row.text) {
            new.push((row.number, String::from_utf8_lossy(&text).into_owned()));
        }
        Ok(())
    })?;
    let mut database = Connection::open(path).map_err(failed)?;
    let transaction = database.transaction().map_err(failed)?;
    for (number, text) in &new {
        transaction.execute(table.update(), (number, text)).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    database.execute_batch("VACUUM").map_err(failed)
}

/// Opens a database for reading; an agent may be writing to it.
fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = match immutable_uri(path) {
        Some(address) => Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI),
        None => Connection::open_with_flags(path, flags),
    };
    database.map_err(in_database(path))
}

/// Returns a function that converts an error of the database at `path`.
fn in_database(path: &Path) -> impl Fn(rusqlite::Error) -> Error + Copy {
    move |error| Error::Database(path.to_owned(), error.into())
}

/// The URI for reading a database without creating files beside it. `SQLite` creates a log
/// and an index even for readers unless the database is declared immutable. Changes are detected
/// afterwards.
fn immutable_uri(path: &Path) -> Option<String> {
    let is_left = |end| replace::suffixed(path, end).exists();
    if replace::log_of(path).is_some() || is_left("-journal") || cfg!(windows) {
        return None;
    }
    let path = std::path::absolute(path).ok()?;
    let steps = path.to_str()?.split('/').map(photic::wire::escaped);
    Some(format!("file:{}?immutable=1", steps.collect::<Vec<_>>().join("/")))
}

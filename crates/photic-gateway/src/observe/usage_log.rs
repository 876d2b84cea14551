//! The usage log: a line of JSON for every turn of a caller.
//!
//! A separate thread appends the lines. The file is opened again when the settings are reloaded, so
//! that it can be moved away before.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use crate::counter::Counter;

/// Maximum lines that may wait to be written.
const MAX_WAITING: usize = 16_384;

/// The usage log.
#[derive(Debug)]
pub(crate) struct UsageLog {
    path: PathBuf,
    messages: SyncSender<Message>,
}

/// A message to the thread that writes lines.
#[derive(Debug)]
enum Message {
    Line(String),
    Reopened(File),
    Flush(Sender<()>),
}

impl UsageLog {
    /// Opens the file, and begins to append to it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened or created.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = appending(path)?;
        let (messages, receiver) = sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new().name("photic-usage".to_owned());
        thread.spawn(move || write(&receiver, file))?;
        Ok(Self { path: path.to_owned(), messages })
    }

    /// Opens the file again.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened or created. Lines then go where they went before.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        let file = appending(&self.path)?;
        // A full queue is being written, and is to be found where it was.
        let _ = self.messages.try_send(Message::Reopened(file));
        Ok(())
    }

    /// Waits until all lines are written, for a bounded time.
    pub(crate) fn flush(&self) {
        let (sender, done) = channel();
        if self.messages.try_send(Message::Flush(sender)).is_ok() {
            let _ = done.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Appends a line, or counts it as lost.
    pub(super) fn write(&self, line: String, lost: &Counter) {
        if self.messages.try_send(Message::Line(line)).is_err() {
            lost.add(1);
        }
    }
}

fn appending(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Writes lines until the log is dropped.
fn write(messages: &Receiver<Message>, file: File) {
    let mut sink = BufWriter::new(file);
    while let Ok(first) = messages.recv() {
        let mut next = Some(first);
        let mut flushes = Vec::new();
        while let Some(message) = next {
            match message {
                // A full disk loses lines, and not the requests that they are about.
                Message::Line(line) => drop(sink.write_all(line.as_bytes())),
                Message::Reopened(file) => {
                    let _ = sink.flush();
                    sink = BufWriter::new(file);
                }
                Message::Flush(done) => flushes.push(done),
            }
            next = messages.try_recv().ok();
        }
        let _ = sink.flush();
        for done in flushes {
            let _ = done.send(());
        }
    }
}

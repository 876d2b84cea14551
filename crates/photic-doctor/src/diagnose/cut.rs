//! Lines that are not JSON. The last one was cut off when the agent, or the machine, was stopped while
//! it was written.

use serde::Serialize;
use serde::de::IgnoredAny;

/// The last line of a session, which was not written to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CutLine {
    /// Its number, from 1.
    pub record: usize,
    /// Number of bytes that were written.
    pub bytes: usize,
    /// The kind of record that it begins with, if that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Number of lines before it, which a repair keeps as they are.
    pub kept: usize,
}

/// The lines that are not JSON, gathered line by line.
#[derive(Debug, Default)]
pub(super) struct UnreadableLines {
    lines: Vec<CutLine>,
    /// Number of the last line that is not blank.
    last: usize,
}

impl UnreadableLines {
    /// Adds a line that was not read, unless it is blank or only larger than what is read.
    pub(super) fn add(&mut self, record: usize, text: &[u8]) {
        let written = text.trim_ascii();
        if written.is_empty() {
            return;
        }
        self.last = record;
        if serde_json::from_slice::<IgnoredAny>(written).is_err() {
            let kind = kind(written);
            self.lines.push(CutLine { record, bytes: written.len(), kind, kept: record - 1 });
        }
    }

    /// Notes that a line was read.
    pub(super) const fn sound(&mut self, record: usize) {
        self.last = record;
    }

    /// The last line, if it is one of them, and the numbers of the others.
    pub(super) fn divided(mut self) -> (Option<CutLine>, Vec<usize>) {
        let cut = self.lines.pop_if(|line| line.record == self.last);
        (cut, self.lines.iter().map(|line| line.record).collect())
    }
}

/// The `type` that a cut line states, if it is near its start.
fn kind(text: &[u8]) -> Option<String> {
    const LOOKED_AT: usize = 4096;
    let head = String::from_utf8_lossy(&text[..text.len().min(LOOKED_AT)]);
    let rest = head.split_once("\"type\":")?.1.trim_start().strip_prefix('"')?;
    let (kind, _) = rest.split_once('"')?;
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    (kind.len() <= 40 && kind.chars().all(is_word)).then(|| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_is_cut_and_blank_lines_do_not_count() {
        let mut lines = UnreadableLines::default();
        lines.sound(1);
        lines.add(2, b"{\"a\": nonsense}\n");
        lines.sound(3);
        lines.add(4, b"{\"type\":\"user\",\"message\":{\"ro");
        lines.add(5, b"  \n");
        let (cut, others) = lines.divided();
        let kind = Some("user".to_owned());
        assert_eq!(cut, Some(CutLine { record: 4, bytes: 29, kind, kept: 3 }));
        assert_eq!(others, [2]);
    }

    #[test]
    fn json_that_is_only_too_large_is_not_cut() {
        let mut lines = UnreadableLines::default();
        lines.add(1, b"[1, 2, 3]\n");
        assert_eq!(lines.divided(), (None, Vec::new()));
    }
}

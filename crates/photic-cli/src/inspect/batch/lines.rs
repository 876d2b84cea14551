//! Writes one line of JSON for each line of the list, in its order.
//!
//! The bytes do not depend on which process asked a question.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use photic_store::work::WorkStore;
use photic_tools::{Batch, LineOutcome, Progress};
use serde_json::{Value, json};

use super::list::ListEntry;
use super::progress::span;
use crate::output::named_file;
use crate::style::grouped;

/// Number of lines by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineCounts {
    pub(super) answered: u64,
    pub(super) refused: u64,
    pub(super) failed: u64,
    pub(super) pending: u64,
}

impl LineCounts {
    pub(super) const fn all(&self) -> u64 {
        self.answered + self.refused + self.failed + self.pending
    }

    /// The summary of a run.
    pub(super) fn words(&self, last: &Progress, asked: u64, took: Duration) -> String {
        let mut parts = vec![format!("{} answered", grouped(self.answered))];
        let others =
            [(self.refused, "refused"), (self.failed, "failed"), (self.pending, "not asked")];
        for (number, word) in others.into_iter().filter(|(number, _)| *number > 0) {
            parts.push(format!("{} {word}", grouped(number)));
        }
        let all = grouped(self.all());
        let parts = parts.join(", ");
        let mut words = format!("of {all}: {parts} · {} asked here", grouped(asked));
        if last.spent > photic_store::Usd::ZERO {
            let _ = write!(words, " · {} in all", last.spent);
        }
        words + &format!(" · {}", span(took))
    }
}

/// Writes all lines to standard output, or to a file that is replaced as a whole.
pub(super) async fn write<W: WorkStore>(
    batch: &Batch<'_, W>,
    chunks: u64,
    entries: &[ListEntry],
    out: Option<&Path>,
) -> anyhow::Result<LineCounts> {
    let Some(path) = named_file(out) else {
        let mut out = BufWriter::new(io::stdout());
        let counts = write_to(&mut out, batch, chunks, entries).await?;
        out.flush().context("cannot write to standard output")?;
        return Ok(counts);
    };
    let shown = path.display();
    let unfinished = path.with_added_extension(format!("unfinished-{}", std::process::id()));
    let file = File::create(&unfinished).with_context(|| format!("cannot write `{shown}`"))?;
    let mut file = BufWriter::new(file);
    let counts = write_to(&mut file, batch, chunks, entries).await?;
    file.flush()
        .and_then(|()| file.get_ref().sync_all())
        .and_then(|()| std::fs::rename(&unfinished, path))
        .with_context(|| format!("cannot write `{shown}`"))?;
    Ok(counts)
}

/// Writes all lines and counts them.
async fn write_to<W: WorkStore>(
    out: &mut impl Write,
    batch: &Batch<'_, W>,
    chunks: u64,
    entries: &[ListEntry],
) -> anyhow::Result<LineCounts> {
    let mut counts = LineCounts::default();
    let mut entries = entries.iter();
    for chunk in 0..chunks {
        let lines = batch.lines(chunk).await.context("cannot read the answers")?;
        for (line, entry) in lines.into_iter().zip(&mut entries) {
            *match &line {
                LineOutcome::Answered(told) if told.answer.is_some() => &mut counts.answered,
                LineOutcome::Answered(_) | LineOutcome::Refused(_) => &mut counts.refused,
                LineOutcome::Failed(_) => &mut counts.failed,
                LineOutcome::Pending => &mut counts.pending,
            } += 1;
            writeln!(out, "{}", written(entry, &line)).context("cannot write the lines")?;
        }
    }
    Ok(counts)
}

/// The JSON of one line.
fn written(entry: &ListEntry, line: &LineOutcome) -> Value {
    let mut written = json!({});
    if let Some(id) = &entry.id {
        written["id"] = id.clone();
    }
    written["image"] = entry.image.as_str().into();
    let more = match line {
        LineOutcome::Answered(told) => json!(told),
        LineOutcome::Refused(why) => json!({ "refused": why }),
        LineOutcome::Failed(why) => json!({ "failed": why }),
        LineOutcome::Pending => json!({ "pending": true }),
    };
    if let (Value::Object(written), Value::Object(more)) = (&mut written, more) {
        written.extend(more);
    }
    written
}

#[cfg(test)]
mod tests {
    use photic_tools::{BatchAnswer, StoredRefusal, Tokens};

    use super::*;

    #[test]
    fn lines_have_what_the_list_gave_first() {
        let entry = |id| ListEntry { id, image: "a.png".into(), question: "?".into() };
        let told = BatchAnswer {
            answer: Some("two\nlines".into()),
            refused: None,
            model: "openai/gpt-4o".into(),
            media_type: "image/png".into(),
            tokens: Some(Tokens { input: 5, output: 2 }),
        };
        assert_eq!(
            written(&entry(Some(json!("x"))), &LineOutcome::Answered(told)).to_string(),
            r#"{"id":"x","image":"a.png","answer":"two\nlines","model":"openai/gpt-4o","media_type":"image/png","tokens":{"input":5,"output":2}}"#
        );
        let why = StoredRefusal { code: "absent".into(), says: "no".into(), hint: "look".into() };
        assert_eq!(
            written(&entry(None), &LineOutcome::Failed(why)).to_string(),
            r#"{"image":"a.png","failed":{"code":"absent","says":"no","hint":"look"}}"#
        );
        let pending = written(&entry(None), &LineOutcome::Pending).to_string();
        assert_eq!(pending, r#"{"image":"a.png","pending":true}"#);
    }

    #[test]
    fn the_summary_leaves_out_what_there_was_none_of() {
        let all = LineCounts { answered: 1997, ..LineCounts::default() };
        let last = Progress::default();
        let took = Duration::from_secs(125);
        let words = all.words(&last, 12, took);
        assert_eq!(words, "of 1,997: 1,997 answered · 12 asked here · 2 min 5 s");
        let some = LineCounts { refused: 2, pending: 1, ..all };
        let last = Progress { spent: photic_store::Usd::dollars(1.5), ..last };
        let right = "of 2,000: 1,997 answered, 2 refused, 1 not asked · 12 asked here \
                     · $1.50 in all · 2 min 5 s";
        assert_eq!(some.words(&last, 12, took), right);
    }
}
